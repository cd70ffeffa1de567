#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/steps.h"

namespace tacho {

// How long each step takes: from its start to the start of the next step on its track. The time
// after the host has ended the step belongs to the step too, because the device still works on it.
// The last step of a track, and a step before a pause, only takes until its own end. A pause is a
// period longer than kPause times the median period of its phase.
inline constexpr int64_t kPause = 4;
std::vector<Interval> StepTimes(const std::vector<Step>& steps);

}  // namespace tacho
