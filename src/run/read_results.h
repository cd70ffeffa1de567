#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "base/result.h"
#include "io/trace_sources.h"

namespace tacho {

// The output of `tacho analyze --json` (docs/json.md), read back. It gives the same output as the
// traces themselves, except what needs events: drawings, other windows.
struct Results {
  std::vector<TraceAnalysis> traces;
  std::vector<SlicesTogether> together;
  std::vector<std::string> skipped, failed, captures;  // as in RunAnalysis
  std::vector<std::string> unproven;                   // as in RunAnalysis
  // The waits of the ranks, in the order of the table of ranks, which has `rank_rows` rows.
  RankBlame blame;
  size_t rank_rows = 0;
  bool is_collection = false;  // its ranks were compared, so one can be missing
};

// kUnreadable: not such results, another schema, or a field of the wrong type ("where: expected
// what").
Result<Results> ParseResults(std::string json);
// The same for a file of at most 256 MB after decompression; errors name the file.
Result<Results> ReadResults(const TraceSource& source);

}  // namespace tacho
