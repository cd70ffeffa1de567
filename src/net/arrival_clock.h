#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace tacho {

// When received bytes came: the kernel stamps them as they arrive (SO_TIMESTAMPNS, tcp(7)), so that
// a reader that is late, with a thousand other streams to read, does not count its lateness as the
// server's. The stamps are of CLOCK_REALTIME; this puts them onto CLOCK_MONOTONIC. The offset of
// the two is measured anew when the last measurement is older than 10 ms; what came before a step
// of the wall clock that shows in it gets no time. On one thread alone. Cost: 0.2 us a receive.
//
// Segments that wait unread keep a stamp each only as long as the kernel does not merge them, which
// then have the last one's: over loopback it merges what was acknowledged (after some 40 ms), from
// a network card nearly all.
class ArrivalClock {
 public:
  struct Received {
    ssize_t count = 0;    // as recv's
    int64_t came_ns = 0;  // CLOCK_MONOTONIC, of the last of the bytes; 0: the kernel did not tell
  };

  // What comes over this socket from now on is stamped, where the system can.
  static void Ask(int socket);
  // Does not wait. `now_ns`: a time of this turn.
  Received Receive(int socket, char* to, size_t room, int64_t now_ns);
  // When the first of the bytes that wait came, as Receive would tell of a read of one byte. 0 also
  // when nothing waits.
  int64_t FirstCameNs(int socket, int64_t now_ns);

 private:
  Received Take(int socket, char* to, size_t room, int64_t now_ns, int flags);
  void Measure();

  int64_t measured_ns_ = 0;      // CLOCK_MONOTONIC
  int64_t ahead_ns_ = 0;         // CLOCK_REALTIME less CLOCK_MONOTONIC
  int64_t trusted_from_ns_ = 0;  // CLOCK_REALTIME
};

}  // namespace tacho
