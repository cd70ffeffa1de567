#include "view/untold_figures.h"

namespace tacho {

UntoldFigures UntoldOf(const PreparedTrace& prepared, bool mixed_ranks) {
  if (mixed_ranks) {
    constexpr std::string_view kWhy = "the file holds several ranks as one";
    return {kWhy, kWhy, kWhy};
  }
  if (!prepared.integrity.device_times()) {
    constexpr std::string_view kWhy = "GPU work lies out of the order of its launches";
    return {kWhy, kWhy, {}};
  }
  if (!KnowsIdleTime(prepared, {})) return {"GPU work is missing from the recording", {}, {}};
  return {};
}

std::string WhyNoBusyTime(const UntoldFigures& untold, std::string_view none) {
  if (!untold.all.empty()) return "not shown: " + std::string(untold.all);
  if (untold.device_time.empty()) return std::string(none);
  return "device time cannot be told: " + std::string(untold.device_time);
}

std::string WhyNoIdleTime(const UntoldFigures& untold) {
  if (!untold.all.empty() || untold.idle_time.empty())
    return WhyNoBusyTime(untold, "no idle time between its first and last work");
  return "idle time cannot be told: " + std::string(untold.idle_time);
}

}  // namespace tacho
