#include "net/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstring>
#include <future>
#include <vector>

#include "base/monotonic_clock.h"
#include "net/server_connections.h"

namespace tacho {
namespace {

constexpr int kAcceptsATurn = 64;
constexpr int64_t kPauseNs = 50'000'000;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<Address> ParseAddress(std::string host, uint16_t port) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.size = sizeof(*v4);
  } else if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.size = sizeof(*v6);
  } else {
    return Fail(ErrorKind::kUsage, "cannot listen on \"" + host +
                                       "\": it is not an IP address (0.0.0.0 is all of them)");
  }
  return address;
}

uint16_t PortOf(int fd) {
  Address address;
  address.size = sizeof(address.storage);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) return 0;
  return address.storage.ss_family == AF_INET
             ? ntohs(reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port)
             : ntohs(reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port);
}

Result<FileDescriptor> OpenListener(const std::string& host, uint16_t port) {
  TACHO_ASSIGN_OR_RETURN(const Address address, ParseAddress(host, port));
  const int family = address.storage.ss_family;
  FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  // Accepted sockets inherit TCP_NODELAY.
  const bool open =
      socket && setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0 &&
      bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0 &&
      listen(socket.get(), SOMAXCONN) == 0;
  const int error = errno;
  if (open) {
    ArrivalClock::Ask(socket.get());  // accepted sockets inherit this too
    return socket;
  }
  const char* remedy = error == EADDRINUSE ? " (stop what listens there, or take another port)"
                       : error == EACCES   ? " (take a port above 1023)"
                       : error == EMFILE   ? " (raise the limit, ulimit -n)"
                                           : "";
  return Fail(ErrorKind::kOutput, fmt::format("cannot listen on {}:{}: {}{}", host, port,
                                              std::strerror(error), remedy));
}

// Accepts connections on one address.
class Listener final : public FdWatcher, public std::enable_shared_from_this<Listener> {
 public:
  Listener(ServerConnections& connections, FileDescriptor socket, uint16_t port,
           HttpHandler handler)
      : connections_(connections),
        socket_(std::move(socket)),
        port_(port),
        handler_(std::make_shared<const HttpHandler>(std::move(handler))) {}

  uint16_t port() const { return port_; }
  void Open() { connections_.loop().Watch(socket_.get(), EPOLLIN, this); }
  void Close() {
    connections_.loop().Unwatch(socket_.get());
    socket_.Close();
  }

  void OnReady(int, uint32_t) override {
    for (int i = 0; i < kAcceptsATurn; ++i) {
      FileDescriptor accepted(
          accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (accepted) {
        connections_.Add(std::move(accepted), port_, handler_);
        continue;
      }
      if (errno == ECONNABORTED || errno == EINTR) continue;
      if (errno != EAGAIN) Pause();
      return;
    }
  }

 private:
  // Out of descriptors: stops accepting for a while instead of spinning.
  void Pause() {
    connections_.loop().Unwatch(socket_.get());
    connections_.loop().At(MonotonicNs() + kPauseNs, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->socket_) self->Open();
    });
  }

  ServerConnections& connections_;
  FileDescriptor socket_;
  const uint16_t port_;
  const std::shared_ptr<const HttpHandler> handler_;
};

class Server final : public HttpServer {
 public:
  Server(std::unique_ptr<EventLoop> loop, const HttpServerOptions& options)
      : connections_(*loop, options), loop_(std::move(loop)) {
    loop_->Start("tacho-server", [this] { connections_.Flush(); });
  }
  ~Server() override {
    loop_->Post([this] {
      for (const auto& listener : listeners_) listener->Close();
      connections_.CloseAll();
    });
    loop_->Stop();
    // Jobs that never ran may hold exchanges, which may still use the connections: destroy them
    // first.
    loop_.reset();
  }

  Result<uint16_t> Listen(const std::string& host, uint16_t port, HttpHandler handler) override {
    TACHO_ASSIGN_OR_RETURN(FileDescriptor socket, OpenListener(host, port));
    const uint16_t taken = PortOf(socket.get());
    auto listener =
        std::make_shared<Listener>(connections_, std::move(socket), taken, std::move(handler));
    // Connections that come before the loop watches the socket wait in the kernel's queue.
    loop_->Post([this, listener] {
      listeners_.push_back(listener);
      listener->Open();
    });
    return taken;
  }

  void Close(uint16_t port) override {
    if (loop_->OnThread()) return CloseNow(port);
    std::promise<void> closed;
    loop_->Post([this, port, &closed] {
      CloseNow(port);
      closed.set_value();
    });
    closed.get_future().wait();
  }

  void Post(std::function<void()> job) override { loop_->Post(std::move(job)); }
  void At(int64_t monotonic_ns, std::function<void()> job) override {
    loop_->At(monotonic_ns, std::move(job));
  }

 private:
  void CloseNow(uint16_t port) {
    std::erase_if(listeners_, [port](const auto& listener) {
      if (listener->port() != port) return false;
      listener->Close();
      return true;
    });
    connections_.CloseOf(port);
  }

  ServerConnections connections_;
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::unique_ptr<EventLoop> loop_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Create(const HttpServerOptions& options) {
  TACHO_ASSIGN_OR_RETURN(auto loop, EventLoop::Create());
  return std::make_unique<Server>(std::move(loop), options);
}

}  // namespace tacho
