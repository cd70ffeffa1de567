#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The sentences of a run.json about ranks that the recording could not prove (no file, a damaged
// file, ...): one for each rank, 1,000 at most; empty if run.json cannot be read.
std::vector<std::string> UnprovenOfRunJson(std::string_view text);

// The same for all recordings in whose folders the traces lie (RUN/traces/... beside RUN/run.json).
std::vector<std::string> FindUnproven(const std::vector<std::string>& traces);

}  // namespace tacho
