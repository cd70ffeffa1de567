#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// What the run.json of a recording says of ranks that it could not prove (without a file, with a
// damaged one, ...): a sentence for each, 1,000 at most; empty if it cannot be read.
std::vector<std::string> UnprovenOfRunJson(std::string_view text);

// The same of all recordings that the traces, by path, lie in (RUN/traces/... beside RUN/run.json).
std::vector<std::string> FindUnproven(const std::vector<std::string>& traces);

}  // namespace tacho
