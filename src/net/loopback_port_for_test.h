#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/file_descriptor.h"

namespace tacho {

inline sockaddr_in LoopbackAddress(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// A free TCP port of the loopback interface, which nobody else can take while this object lives.
// With a `queue` it accepts that many connections; without one it refuses them. Ends the test
// program if no port is free.
class LoopbackPort {
 public:
  explicit LoopbackPort(std::optional<int> queue = {})
      : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = LoopbackAddress(0);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_.get(), any, size) != 0 || getsockname(socket_.get(), any, &size) != 0 ||
        (queue && listen(socket_.get(), *queue) != 0)) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
  }
  uint16_t port() const { return port_; }
  int fd() const { return socket_.get(); }
  void Close() { socket_.Close(); }

 private:
  FileDescriptor socket_;
  uint16_t port_ = 0;
};

}  // namespace tacho
