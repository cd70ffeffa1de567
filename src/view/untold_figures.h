#pragma once

#include <string>
#include <string_view>

#include "analysis/prepared_trace.h"

namespace tacho {

// For each kind of figure, why it is unknown in a trace, such as "GPU work is missing from the
// recording"; "" if it is known. If one kind is unknown, so are the kinds listed before it.
struct UntoldFigures {
  std::string_view idle_time;    // when the devices were idle, and why
  std::string_view device_time;  // when the devices worked
  // All figures: why none of them is of a single rank. "" unless the file mixes several ranks.
  std::string_view all;
};

// `mixed_ranks`: TraceFacts::mixed_ranks.
UntoldFigures UntoldOf(const PreparedTrace& prepared, bool mixed_ranks);

// Why a computed row of a device is empty; WhyNoIdleTime is for the row of idle time. If the time
// is unknown, gives the reason in `untold`. Otherwise gives `none`, or says that there was no idle
// time.
std::string WhyNoBusyTime(const UntoldFigures& untold, std::string_view none);
std::string WhyNoIdleTime(const UntoldFigures& untold);

}  // namespace tacho
