#pragma once

#include <string>
#include <string_view>

#include "analysis/prepared_trace.h"

namespace tacho {

// Why figures of a trace are not told, as "GPU work is missing from the recording"; "" where they
// are. Where one is not told, neither are those before it.
struct UntoldFigures {
  std::string_view idle_time;    // when its devices were idle, and why
  std::string_view device_time;  // when they worked
  std::string_view all;          // whose its work is, so no figure of it is one of a rank
};

// `mixed_ranks`: as TraceFacts has it.
UntoldFigures UntoldOf(const PreparedTrace& prepared, bool mixed_ranks);

// What rows of a device say where they show nothing: that its times are not told, or `none`.
std::string WhyNoBusyTime(const UntoldFigures& untold, std::string_view none);
std::string WhyNoIdleTime(const UntoldFigures& untold);

}  // namespace tacho
