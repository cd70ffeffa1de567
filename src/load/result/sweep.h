#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/result/load_summary.h"
#include "text/text_style.h"

namespace tacho {

// A sweep runs one load for each level of one quantity.
enum class SweepOf { kNone, kConcurrency, kRate };
struct Sweep {
  SweepOf of = SweepOf::kNone;
  std::vector<double> levels;
  double attain = 0.95;  // share of the requests that must keep the SLOs, if there are any
};

struct SweepLevel {
  double level = 0;
  LoadSummary summary;
  // Share of the sent requests that kept the SLOs; absent without SLOs.
  std::optional<double> attained;
  bool keeps_slos = true;   // `attained` is at least Sweep::attain
  std::string ended_early;  // this and `broken_off`: as in LoadRecords
  bool broken_off = false;
};

// The level with the largest throughput over latency (Kleinrock's power): output tokens per second
// divided by the median end-to-end time. Up to this level, more load is almost free; above it,
// requests take longer for little more throughput. Skips levels that the client limited, that broke
// the SLOs, had failures or were interrupted. Absent if no level is left.
std::optional<size_t> KneeOf(const std::vector<SweepLevel>& levels);

// Parses a list of levels: "1,2,4..256". In "A..B" each level is the level before it times a ratio,
// up to B. The ratio is that of A to the number before A, or 2 if A is the first number. Errors are
// kUsage.
Result<std::vector<double>> ParseLevels(std::string_view text);

// The result of a level as a line for a log: "at once 8: 120 done, 12.3 req/s, 456 tok/s".
std::string SweepLine(SweepOf sweep, const SweepLevel& level);
// `levels`: those that finished. `with_slos`: shows how many requests kept the SLOs.
std::string SweepText(const Sweep& sweep, bool with_slos, const std::vector<SweepLevel>& levels,
                      const TextStyle& style);
std::string SweepJson(const Sweep& sweep, const std::vector<SweepLevel>& levels,
                      std::string_view version);

}  // namespace tacho
