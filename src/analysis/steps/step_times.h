#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/steps.h"

namespace tacho {

// What each step takes: from its start to that of the next one on its track, because the device
// works on when the host has ended. Only to its own end if it is the last, or if a pause follows:
// a period longer than kPause times the median period of its phase.
inline constexpr int64_t kPause = 4;
std::vector<Interval> StepTimes(const std::vector<Step>& steps);

}  // namespace tacho
