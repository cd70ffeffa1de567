#include "load/result/records.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "base/monotonic_clock.h"

namespace tacho {

int64_t UnixOf(int64_t monotonic_ns, std::span<const ClockPair> clocks) {
  if (clocks.empty()) return 0;
  auto after =
      std::upper_bound(clocks.begin(), clocks.end(), monotonic_ns,
                       [](int64_t at, const ClockPair& pair) { return at < pair.monotonic_ns; });
  if (after == clocks.begin()) return after->unix_ns + (monotonic_ns - after->monotonic_ns);
  const ClockPair& left = *(after - 1);
  const int64_t since = monotonic_ns - left.monotonic_ns;
  if (after == clocks.end()) return left.unix_ns + since;
  // Add the elapsed time and, in proportion, what the Unix clock gained on the monotonic one.
  const int64_t span = after->monotonic_ns - left.monotonic_ns;
  const int64_t gained = (after->unix_ns - left.unix_ns) - span;
  return left.unix_ns + since +
         std::llround(static_cast<double>(gained) * static_cast<double>(since) /
                      static_cast<double>(span));
}

std::string_view StatusName(RequestStatus status) {
  switch (status) {
    case RequestStatus::kDone:
      return "done";
    case RequestStatus::kFailed:
      return "failed";
    case RequestStatus::kPartial:
      return "partial";
    case RequestStatus::kCancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace tacho
