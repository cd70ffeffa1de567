#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "base/result.h"
#include "io/discover.h"

namespace tacho {

// What `tacho analyze --json` wrote (docs/json.md), read back. Everything that is printed from the
// traces is printed from it the same, but for what needs their events: drawings, other windows.
struct Results {
  std::vector<TraceAnalysis> traces;
  std::vector<SlicesTogether> together;
  std::vector<std::string> skipped, failed, captures;  // as in RunAnalysis
  std::vector<std::string> unproven;                   // as in RunAnalysis
  bool is_collection = false;  // its ranks were compared: one can be missing
};

// kUnreadable: no such results, of another schema, or with a field of the wrong type: "where:
// expected what".
Result<Results> ParseResults(std::string json);
// The same of a file, at most 256 MB after decompression; errors name it.
Result<Results> ReadResults(const TraceSource& source);

}  // namespace tacho
