#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "net/dial.h"
#include "net/event_loop.h"

namespace tacho {

// Where a server was reached.
struct PeerAddress {
  sockaddr_storage storage;
  socklen_t size;
  int64_t reached_ns;  // CLOCK_MONOTONIC

  // Gives nothing for what is not connected to an IP address.
  static std::optional<PeerAddress> Of(int socket, int64_t now_ns);
};

// Connects to an address where the server was reached before, at a fraction of the cost of
// libcurl's way: a thousand streams begin in a moment.
class AddressDial final : public Dial, private FdWatcher {
 public:
  // Calls `dialed` without a socket when nobody is there, or nobody answers in time; nobody is told
  // why. Gives nothing when it cannot even begin. `loop` must stay longer.
  static std::unique_ptr<Dial> Start(EventLoop& loop, const PeerAddress& address,
                                     std::chrono::nanoseconds patience, Dialed dialed);
  ~AddressDial() override;

 private:
  AddressDial(EventLoop& loop, FileDescriptor socket, std::chrono::nanoseconds patience,
              Dialed dialed);
  void OnReady(int fd, uint32_t events) override;
  void End(bool reached);

  EventLoop& loop_;
  FileDescriptor socket_;
  Dialed dialed_;
  const std::shared_ptr<AddressDial*> self_;  // for the loop's timer, which may outlive us
};

}  // namespace tacho
