#include "net/address_dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

#include <utility>

#include "base/monotonic_clock.h"

namespace tacho {
namespace {

// Sets the same options as libcurl's sockets have (curl_handle.cc).
void SetUp(int socket) {
  const auto set = [socket](int level, int name, int value) {
    setsockopt(socket, level, name, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
}

}  // namespace

std::optional<PeerAddress> PeerAddress::Of(int socket, int64_t now_ns) {
  PeerAddress address{{}, sizeof(sockaddr_storage), now_ns};
  auto* general = reinterpret_cast<sockaddr*>(&address.storage);
  if (getpeername(socket, general, &address.size) != 0) return std::nullopt;
  if (general->sa_family != AF_INET && general->sa_family != AF_INET6) return std::nullopt;
  return address;
}

std::unique_ptr<Dial> AddressDial::Start(EventLoop& loop, const PeerAddress& address,
                                         std::chrono::nanoseconds patience, Dialed dialed) {
  FileDescriptor own(
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!own) return nullptr;
  SetUp(own.get());
  const auto* general = reinterpret_cast<const sockaddr*>(&address.storage);
  if (connect(own.get(), general, address.size) != 0 && errno != EINPROGRESS) return nullptr;
  return std::unique_ptr<Dial>(new AddressDial(loop, std::move(own), patience, std::move(dialed)));
}

AddressDial::AddressDial(EventLoop& loop, FileDescriptor socket, std::chrono::nanoseconds patience,
                         Dialed dialed)
    : loop_(loop),
      socket_(std::move(socket)),
      dialed_(std::move(dialed)),
      self_(std::make_shared<AddressDial*>(this)) {
  loop_.Watch(socket_.get(), EPOLLOUT, this);
  loop_.At(MonotonicNs() + patience.count(), [weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->End(false);
  });
}

AddressDial::~AddressDial() {
  if (socket_) loop_.Unwatch(socket_.get());
}

void AddressDial::OnReady(int, uint32_t events) {
  int error = 0;
  socklen_t size = sizeof(error);
  End((events & EPOLLERR) == 0 &&
      getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
}

void AddressDial::End(bool reached) {
  loop_.Unwatch(socket_.get());
  FileDescriptor socket = std::move(socket_);
  if (!reached) socket.Close();
  // The callback destroys this object.
  const Dialed dialed = std::move(dialed_);
  dialed(std::move(socket));
}

}  // namespace tacho
