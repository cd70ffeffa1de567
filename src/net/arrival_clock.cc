#include "net/arrival_clock.h"

#include <sys/socket.h>
#include <time.h>

#include <cstdlib>
#include <cstring>

#include "base/monotonic_clock.h"
#include "base/time.h"

namespace tacho {
namespace {

constexpr int64_t kMeasuredEveryNs = 10 * kNsPerMs;
constexpr int64_t kSurelyTogetherNs = 2'000;  // a longer time means that the thread was interrupted
// The two clocks are slewed alike, so only a step changes their offset by this much.
constexpr int64_t kStepNs = 100'000;

int64_t NsOf(const timespec& time) { return int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec; }

}  // namespace

void ArrivalClock::Ask(int socket) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
}

ArrivalClock::Received ArrivalClock::Receive(int socket, char* to, size_t room, int64_t now_ns) {
  return Take(socket, to, room, now_ns, 0);
}

int64_t ArrivalClock::FirstCameNs(int socket, int64_t now_ns) {
  char byte = 0;
  return Take(socket, &byte, 1, now_ns, MSG_PEEK).came_ns;
}

ArrivalClock::Received ArrivalClock::Take(int socket, char* to, size_t room, int64_t now_ns,
                                          int flags) {
  if (now_ns - measured_ns_ > kMeasuredEveryNs) Measure();
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))];
  iovec piece{to, room};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  Received received{.count = recvmsg(socket, &message, MSG_DONTWAIT | flags)};
  if (received.count <= 0) return received;
  const cmsghdr* told = CMSG_FIRSTHDR(&message);
  if (told == nullptr || told->cmsg_level != SOL_SOCKET || told->cmsg_type != SCM_TIMESTAMPNS) {
    return received;
  }
  timespec stamp{};
  std::memcpy(&stamp, CMSG_DATA(told), sizeof(stamp));
  if (measured_ns_ != 0 && NsOf(stamp) >= trusted_from_ns_) {
    received.came_ns = NsOf(stamp) - ahead_ns_;
  }
  return received;
}

void ArrivalClock::Measure() {
  timespec real{};
  const int64_t before = MonotonicNs();
  clock_gettime(CLOCK_REALTIME, &real);
  const int64_t after = MonotonicNs();
  if (after - before > kSurelyTogetherNs) return;  // the next call tries again
  const int64_t ahead = NsOf(real) - before;
  const bool first = measured_ns_ == 0;
  if (!first && std::llabs(ahead - ahead_ns_) > kStepNs) trusted_from_ns_ = NsOf(real);
  ahead_ns_ = ahead;
  measured_ns_ = before;
}

}  // namespace tacho
