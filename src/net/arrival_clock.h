#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace tacho {

// Tells when received bytes reached this host. The kernel stamps them as they arrive
// (SO_TIMESTAMPNS, tcp(7)), so a reader that is late because of a thousand other streams does not
// blame the server for its own delay. The stamps are CLOCK_REALTIME; this class converts them to
// CLOCK_MONOTONIC. It measures the offset between the two clocks every 10 ms. If the wall clock has
// stepped, bytes from before the step get no time. Single thread. Cost: 0.2 us per receive.
//
// The kernel may merge segments that nobody has read yet; all their bytes then carry the stamp of
// the last one. It merges nearly all unread segments from a network card. Over loopback it merges
// only those that are acknowledged (after some 40 ms).
class ArrivalClock {
 public:
  struct Received {
    ssize_t count = 0;    // as recv returns it
    int64_t came_ns = 0;  // CLOCK_MONOTONIC, when the last byte came; 0: no stamp
  };

  // Makes the kernel stamp the bytes that arrive at this socket from now on, if the system can.
  static void Ask(int socket);
  // Does not wait. `now_ns`: the current time; it may be as old as the loop's last poll.
  Received Receive(int socket, char* to, size_t room, int64_t now_ns);
  // The arrival time of the first unread byte, without reading it. 0 if there is no unread byte, or
  // if it has no stamp.
  int64_t FirstCameNs(int socket, int64_t now_ns);

 private:
  Received Take(int socket, char* to, size_t room, int64_t now_ns, int flags);
  void Measure();

  int64_t measured_ns_ = 0;      // CLOCK_MONOTONIC, when `ahead_ns_` was measured
  int64_t ahead_ns_ = 0;         // CLOCK_REALTIME minus CLOCK_MONOTONIC
  int64_t trusted_from_ns_ = 0;  // CLOCK_REALTIME; earlier stamps are from before a step
};

}  // namespace tacho
