#pragma once

#include <vector>

#include "analysis/launches.h"

namespace tacho {

// Which calls put work onto a stream that the same thread had told to wait for an event since its
// last such call, by host call. The calls do not tell their stream. Empty when there is no wait.
std::vector<bool> CallsBehindWaits(const Trace& trace, const LaunchLinks& links);

}  // namespace tacho
