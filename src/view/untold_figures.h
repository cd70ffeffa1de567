#pragma once

#include <string>
#include <string_view>

#include "analysis/prepared_trace.h"

namespace tacho {

// For each kind of figure, why it is unknown in a trace, such as "GPU work is missing from the
// recording"; "" if it is known. If one of them is unknown, so are those above it.
struct UntoldFigures {
  std::string_view idle_time;    // when the devices were idle, and why
  std::string_view device_time;  // when the devices worked
  // Which rank the work belongs to; if unknown, no figure is of a single rank.
  std::string_view all;
};

// `mixed_ranks`: TraceFacts::mixed_ranks.
UntoldFigures UntoldOf(const PreparedTrace& prepared, bool mixed_ranks);

// What an empty row of a device says: that the device's times are unknown; or else `none`, or that
// there was no idle time.
std::string WhyNoBusyTime(const UntoldFigures& untold, std::string_view none);
std::string WhyNoIdleTime(const UntoldFigures& untold);

}  // namespace tacho
