#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace tacho {

// When received bytes came. The kernel stamps them as they arrive (SO_TIMESTAMPNS, tcp(7)), so a
// reader that is late because of a thousand other streams does not blame the server for its own
// delay. The stamps are of CLOCK_REALTIME; this converts them to CLOCK_MONOTONIC. The offset is
// measured again after 10 ms. If it shows a step of the wall clock, bytes from before the step get
// no time. Single thread. Cost: 0.2 us a receive.
//
// The kernel may merge unread segments, which then have the stamp of the last one. Over loopback it
// merges acknowledged segments (after some 40 ms); from a network card it merges nearly all.
class ArrivalClock {
 public:
  struct Received {
    ssize_t count = 0;    // as recv returns it
    int64_t came_ns = 0;  // CLOCK_MONOTONIC, when the last of the bytes came; 0: no stamp
  };

  // Bytes that arrive at this socket from now on are stamped, if the system can.
  static void Ask(int socket);
  // Does not wait. `now_ns`: a time since the loop's current poll.
  Received Receive(int socket, char* to, size_t room, int64_t now_ns);
  // When the first unread byte came, as Receive of one byte would report it. 0 also if no byte is
  // unread.
  int64_t FirstCameNs(int socket, int64_t now_ns);

 private:
  Received Take(int socket, char* to, size_t room, int64_t now_ns, int flags);
  void Measure();

  int64_t measured_ns_ = 0;      // CLOCK_MONOTONIC
  int64_t ahead_ns_ = 0;         // CLOCK_REALTIME less CLOCK_MONOTONIC
  int64_t trusted_from_ns_ = 0;  // CLOCK_REALTIME
};

}  // namespace tacho
