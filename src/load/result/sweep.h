#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/result/load_summary.h"
#include "text/text_style.h"

namespace tacho {

// One load for each level of the swept quantity.
enum class SweepOf { kNone, kConcurrency, kRate };
struct Sweep {
  SweepOf of = SweepOf::kNone;
  std::vector<double> levels;
  double attain = 0.95;  // share of the requests that must keep the SLOs, if any
};

struct SweepLevel {
  double level = 0;
  LoadSummary summary;
  std::optional<double> attained;  // share of the sent requests that kept the SLOs, if any
  bool keeps_slos = true;          // `attained` is large enough
  std::string ended_early;         // as in LoadRecords; so is broken_off
  bool broken_off = false;
};

// The level at which throughput over latency is largest: output tokens a second over the median end
// to end time (Kleinrock's power). Below it more load is almost free; above it requests take longer
// for little more throughput. Never a level that the client limited, that broke the SLOs, had
// failures or was interrupted. Absent if no level is left.
std::optional<size_t> KneeOf(const std::vector<SweepLevel>& levels);

// "1,2,4..256": numbers; ".." continues the ratio up to the last one. Errors are kUsage.
Result<std::vector<double>> ParseLevels(std::string_view text);

// The result of a level, for a log: "at once 8: 120 done, 12.3 req/s, 456 tok/s".
std::string SweepLine(SweepOf sweep, const SweepLevel& level);
// `levels`: the finished ones. `with_slos`: shows how many requests kept the SLOs.
std::string SweepText(const Sweep& sweep, bool with_slos, const std::vector<SweepLevel>& levels,
                      const TextStyle& style);
std::string SweepJson(const Sweep& sweep, const std::vector<SweepLevel>& levels,
                      std::string_view version);

}  // namespace tacho
