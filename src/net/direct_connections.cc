#include "net/direct_connections.h"

#include "base/monotonic_clock.h"
#include "base/time.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;

constexpr size_t kBufferBytes = 64 * 1024;
// A server's name is resolved again after this time, which is how long libcurl caches a name.
constexpr int64_t kReachedHoldsNs = 60 * kNsPerSecond;
// Longer than the kernel waits before it tries a connection again.
constexpr milliseconds kMostPatience{1500};
// For comparison: a loop with a thousand streams polls every 0.3 ms.
constexpr int64_t kLongSinceNs = kNsPerMs, kLateNs = kNsPerMs / 2;
// Reading chunk by chunk costs more, so it stops after this time, when the loop has caught up.
constexpr int64_t kMostCatchingUpNs = 20 * kNsPerMs;

}  // namespace

DirectConnections::DirectConnections(EventLoop& loop, size_t most_idle, Dialer dial,
                                     std::function<void(Exchange&)> ended)
    : loop_(loop),
      most_idle_(most_idle),
      dial_(std::move(dial)),
      ended_(std::move(ended)),
      buffer_(kBufferBytes) {}

void DirectConnections::Carry(DirectExchange& exchange) {
  std::vector<DirectConnection*>& idle = idle_[exchange.url().Origin()];
  while (!idle.empty()) {
    DirectConnection& connection = *idle.back();
    if (!connection.IsQuiet()) {
      Close(connection);
      continue;
    }
    idle.pop_back();
    --idle_count_;
    return connection.Carry(exchange);
  }
  DialFor(exchange);
}

void DirectConnections::DialFor(DirectExchange& exchange) {
  if (!DialKnown(exchange)) DialAnew(exchange, exchange.request().connect_timeout);
}

void DirectConnections::DialAnew(DirectExchange& exchange, milliseconds patience) {
  exchange.dial_ = dial_(exchange, patience, [this, &exchange](FileDescriptor socket) {
    if (socket) {
      const int64_t now = MonotonicNs();
      if (const auto peer = PeerAddress::Of(socket.get(), now)) {
        reached_.insert_or_assign(exchange.url().Origin(), *peer);
      }
    }
    Connected(exchange, std::move(socket));
  });
  if (!exchange.dial_) ended_(exchange);
}

bool DirectConnections::DialKnown(DirectExchange& exchange) {
  const int64_t begun = MonotonicNs();
  const auto reached = reached_.find(exchange.url().Origin());
  if (reached == reached_.end() || begun - reached->second.reached_ns > kReachedHoldsNs) {
    return false;
  }
  const milliseconds patience = exchange.request().connect_timeout;
  exchange.dial_ =
      AddressDial::Start(loop_, reached->second, std::min(kMostPatience, patience / 2),
                         [this, &exchange, begun, patience](FileDescriptor socket) {
                           if (socket) return Connected(exchange, std::move(socket));
                           // Let libcurl dial: it may know other addresses of the server, and it
                           // reports what is wrong.
                           reached_.erase(exchange.url().Origin());
                           const auto spent = milliseconds((MonotonicNs() - begun) / kNsPerMs);
                           DialAnew(exchange, std::max(milliseconds(1), patience - spent));
                         });
  return exchange.dial_ != nullptr;
}

void DirectConnections::Connected(DirectExchange& exchange, FileDescriptor socket) {
  const std::unique_ptr<Dial> over = std::move(exchange.dial_);
  if (!socket) return ended_(exchange);
  auto connection =
      std::make_unique<DirectConnection>(*this, std::move(socket), exchange.url().Origin());
  DirectConnection& known = *connection;
  all_.emplace(&known, std::move(connection));
  known.Carry(exchange);
}

void DirectConnections::Leave(DirectExchange& exchange) {
  exchange.dial_.reset();
  if (exchange.connection_ != nullptr) Close(*exchange.connection_);
}

void DirectConnections::End(DirectConnection& connection, bool keep) {
  DirectExchange& exchange = *connection.exchange_;
  if (keep && idle_count_ < most_idle_) {
    exchange.connection_ = nullptr;
    connection.exchange_ = nullptr;
    connection.sink_ = nullptr;
    connection.used_before_ = true;
    idle_[connection.origin()].push_back(&connection);
    ++idle_count_;
  } else {
    Close(connection);
  }
  ended_(exchange);
}

void DirectConnections::SendAgain(DirectConnection& connection) {
  DirectExchange& exchange = *connection.exchange_;
  Close(connection);
  DialFor(exchange);
}

void DirectConnections::Close(DirectConnection& connection) {
  if (connection.exchange_ != nullptr) {
    connection.exchange_->connection_ = nullptr;
  } else {
    idle_count_ -= std::erase(idle_[connection.origin()], &connection);
  }
  all_.erase(&connection);
}

bool DirectConnections::ComesLate(int socket) {
  const int64_t ready_ns = loop_.ready_ns();
  if (loop_.look() != judged_look_ && loop_.since_last_look_ns() > kLongSinceNs) {
    // This is the first socket of the poll, and so the one that became ready first.
    const int64_t came_ns = arrivals_.FirstCameNs(socket, ready_ns);
    const bool late = came_ns != 0 && ready_ns - came_ns > kLateNs;
    late_until_ns_ = late ? ready_ns + kMostCatchingUpNs : 0;
  }
  judged_look_ = loop_.look();
  return ready_ns < late_until_ns_;
}

void DirectConnections::CloseAll() {
  idle_.clear();
  all_.clear();
}

}  // namespace tacho
