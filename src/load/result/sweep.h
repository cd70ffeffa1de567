#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/result/summary.h"
#include "text/text_style.h"

namespace tacho {

// One load for each level of what is swept.
enum class SweepOf { kNone, kConcurrency, kRate };
struct Sweep {
  SweepOf of = SweepOf::kNone;
  std::vector<double> levels;
  double attain = 0.95;  // of the requests must keep the SLOs, where there are any
};

struct SweepLevel {
  double level = 0;
  LoadSummary summary;
  std::optional<double> attained;  // share of the requests sent that kept the SLOs, with any
  bool keeps_slos = true;          // it is as large as was asked for
  std::string ended_early;         // as of LoadRecords, and
  bool broken_off = false;
};

// The level at which throughput over latency is largest: output tokens a second over the median end
// to end time (Kleinrock's power). Before it more load is served almost for free, after it
// requests pay with time for little more throughput. Not a level that the client limited, that
// broke the SLOs, had failures or was broken off. Absent where none is left.
std::optional<size_t> KneeOf(const std::vector<SweepLevel>& levels);

// "1,2,4..256": numbers, and ".." for the same ratio on up to the last one. kUsage.
Result<std::vector<double>> ParseLevels(std::string_view text);

// What a level came to, for a log: "at once 8: 120 done, 12.3 req/s, 456 tok/s".
std::string SweepLine(SweepOf sweep, const SweepLevel& level);
// `levels`: those that were run. `with_slos`: how many requests kept them is shown.
std::string SweepText(const Sweep& sweep, bool with_slos, const std::vector<SweepLevel>& levels,
                      const TextStyle& style);
std::string SweepJson(const Sweep& sweep, const std::vector<SweepLevel>& levels,
                      std::string_view version);

}  // namespace tacho
