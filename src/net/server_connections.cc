#include "net/server_connections.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/monotonic_clock.h"

namespace tacho {

namespace {

std::string RefusalOfConnection(const HttpServerOptions& options) {
  const std::string text =
      fmt::format("Service Unavailable: there are {} connections, which is the most\n",
                  options.most_connections);
  std::string answer = fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n",
      text.size());
  for (const HttpHeader& header : options.headers)
    answer += fmt::format("{}: {}\r\n", header.name, header.value);
  return answer + "Connection: close\r\n\r\n" + text;
}

}  // namespace

ServerConnections::ServerConnections(EventLoop& loop, const HttpServerOptions& options)
    : loop_(loop), options_(options) {}

void ServerConnections::Add(FileDescriptor socket, uint16_t port,
                            std::shared_ptr<const HttpHandler> handler) {
  if (connections_.size() >= options_.most_connections) {
    // If the answer does not fit into the empty socket's buffer, it is dropped.
    const std::string answer = RefusalOfConnection(options_);
    (void)send(socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  const int fd = socket.get();
  auto connection =
      std::make_shared<ServerConnection>(*this, std::move(socket), port, std::move(handler));
  connections_[fd] = connection;
  connection->Open();
  if (!sweeping_) {
    sweeping_ = true;
    Sweep();
  }
}

void ServerConnections::Remove(int fd) { connections_.erase(fd); }

void ServerConnections::CloseOf(uint16_t port) {
  std::vector<std::shared_ptr<ServerConnection>> doomed;
  for (const auto& [fd, connection] : connections_) {
    if (connection->port() == port) doomed.push_back(connection);
  }
  for (const auto& connection : doomed) connection->Close();
}

void ServerConnections::CloseAll() {
  while (!connections_.empty()) {
    const std::shared_ptr<ServerConnection> connection = connections_.begin()->second;
    connection->Close();
  }
  dirty_.clear();
}

void ServerConnections::Flush() {
  if (dirty_.empty()) return;
  flushing_.swap(dirty_);
  for (const auto& connection : flushing_) connection->Flush();
  flushing_.clear();
}

void ServerConnections::MarkDirty(std::shared_ptr<ServerConnection> connection) {
  if (loop_.OnThread()) {
    dirty_.push_back(std::move(connection));
  } else {
    loop_.Post([this, connection = std::move(connection)] { dirty_.push_back(connection); });
  }
}

void ServerConnections::Sweep() {
  const int64_t now = MonotonicNs();
  std::vector<std::shared_ptr<ServerConnection>> all;
  all.reserve(connections_.size());
  for (const auto& [fd, connection] : connections_) all.push_back(connection);
  for (const auto& connection : all) connection->CloseIfLate(now);
  if (connections_.empty()) {
    sweeping_ = false;
    return;
  }
  using std::chrono::nanoseconds;
  const int64_t period = std::clamp<int64_t>(nanoseconds(options_.request_timeout).count() / 8,
                                             10'000'000, 1'000'000'000);
  loop_.At(now + period, [this] { Sweep(); });
}

}  // namespace tacho
