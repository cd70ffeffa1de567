#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "base/file_descriptor.h"

namespace tacho {

// A loopback port at which nobody listens, and that nobody else can take while this lives.
class ClosedPort {
 public:
  ClosedPort() : held_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(held_.get(), any, size), 0);
    EXPECT_EQ(getsockname(held_.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  uint16_t port() const { return port_; }

 private:
  FileDescriptor held_;
  uint16_t port_ = 0;
};

}  // namespace tacho
