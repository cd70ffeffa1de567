#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "run/baselines.h"
#include "text/table.h"

namespace tacho {

// A baseline as `tacho baseline list` shows it.
struct ListedBaseline {
  std::string name, path, engine, engine_version;
  std::optional<int64_t> recorded_unix_ns;  // the start of its earliest trace
  uint64_t runs = 0, ranks = 0, steps = 0;  // ranks: in one run; steps: in all runs together
  int64_t bytes = 0;                        // on the disk
};
// `runs`: all runs that the baseline holds.
ListedBaseline ListedBaselineOf(const BaselinePlace& place, const std::vector<RunAnalysis>& runs);

Table BaselinesTable(const std::vector<ListedBaseline>& baselines);
// The JSON object {"schema", "tacho", "baselines": [...]}, described in docs/ci.md.
std::string BaselinesJson(const std::vector<ListedBaseline>& baselines, std::string_view version);

}  // namespace tacho
