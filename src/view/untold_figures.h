#pragma once

#include <string>
#include <string_view>

#include "analysis/prepared_trace.h"

namespace tacho {

// Why figures of a trace are unknown, such as "GPU work is missing from the recording"; "" if they
// are known. If one is unknown, so are those before it.
struct UntoldFigures {
  std::string_view idle_time;    // when its devices were idle, and why
  std::string_view device_time;  // when they worked
  std::string_view all;          // to which rank the work belongs: then no figure is one rank's
};

// `mixed_ranks`: as TraceFacts has it.
UntoldFigures UntoldOf(const PreparedTrace& prepared, bool mixed_ranks);

// What rows of a device say if they show nothing: that its times are unknown, or `none`.
std::string WhyNoBusyTime(const UntoldFigures& untold, std::string_view none);
std::string WhyNoIdleTime(const UntoldFigures& untold);

}  // namespace tacho
