#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "base/result.h"
#include "io/trace_sources.h"

namespace tacho {

// Results that `tacho analyze --json` wrote (docs/json.md) and that were read back. Reports made
// from them are the same as those made from the traces, except for what needs events (drawings,
// other windows).
struct Results {
  std::vector<TraceAnalysis> traces;
  std::vector<SlicesTogether> together;
  std::vector<std::string> skipped, failed, captures;  // as in RunAnalysis
  std::vector<std::string> unproven;                   // as in RunAnalysis
  // How long the ranks waited, in the order of the table of ranks, which has `rank_rows` rows.
  RankBlame blame;
  size_t rank_rows = 0;
  bool is_collection = false;  // its ranks were compared, so some may be missing
};

// kUnreadable: the text is not such results, has another schema, or has a field of the wrong type
// (the message says where, and what was expected).
Result<Results> ParseResults(std::string json);
// The same for a file of up to 256 MB after decompression. Error messages name the file.
Result<Results> ReadResults(const TraceSource& source);

}  // namespace tacho
