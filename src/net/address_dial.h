#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "net/dial.h"
#include "net/event_loop.h"

namespace tacho {

// The address at which a server was reached, and when.
struct PeerAddress {
  sockaddr_storage storage;
  socklen_t size;
  int64_t reached_ns;  // CLOCK_MONOTONIC

  // nullopt if `socket` is not connected to an IP address.
  static std::optional<PeerAddress> Of(int socket, int64_t now_ns);
};

// Connects to an address at which the server was reached before. This costs a fraction of what
// libcurl takes to connect, which matters when a thousand streams begin at once.
class AddressDial final : public Dial, private FdWatcher {
 public:
  // Calls `dialed` with the connected socket, or without one if nobody listens or answers within
  // `patience`; the exchange does not learn why. Returns nullptr if the attempt cannot even begin.
  // `loop` must outlive the result.
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
  const std::shared_ptr<AddressDial*> self_;  // shared with the loop's timer, which may outlive us
};

}  // namespace tacho
