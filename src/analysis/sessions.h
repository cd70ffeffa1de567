#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks.h"

namespace tacho {

// The name of the profiling session that a trace's path tells: tacho's own
// ("tacho-20261121-222238", in the file's name or a folder's) or SGLang's ("1795263589.7707117",
// with what stands before it in the file's name); "" where it tells none. Both are of one start of
// the profilers.
std::string SessionKey(std::string_view path);

// The traces of each session of profiling, the earliest first, by its last event. Of one session
// are traces with one session key, traces without a key that have one trace id, and those that were
// recorded at once or less than a second apart, directly or through others. A trace that tells
// nothing of this is in every session.
std::vector<std::vector<size_t>> SessionsOf(const std::vector<RankInput>& traces);

}  // namespace tacho
