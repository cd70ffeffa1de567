#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/summary.h"
#include "report/screen_parts.h"

namespace tacho {

// What `--summary` keeps of one trace: totals, in the order in which they are shown.
struct TraceSummary {
  struct NameRow {
    std::string name;
    uint64_t count = 0;
    DurationNs total, min, max;
  };
  struct DeviceRow {
    std::string device;
    uint64_t gpu_events = 0;
    DurationNs sum;
    Interval window;
  };
  std::string path;
  uint64_t bytes = 0, json_bytes = 0;
  std::optional<int64_t> rank, world_size, base_time_ns;
  std::string vllm_version;
  Interval span;
  uint64_t events = 0;
  std::vector<std::pair<std::string, uint64_t>> by_phase, by_category;
  Notes notes;
  std::vector<DeviceRow> devices;  // by id, numbers first
  std::vector<NameRow> gpu_work;  // kernels, copies and memsets; by total, longest first, then name
  std::vector<NameRow> host_ops;
};
// All but path and sizes.
TraceSummary Summarized(const SummarySink& sink);

struct RunSummary {
  std::vector<TraceSummary> traces;  // by path
  std::vector<std::string> skipped;
};
std::string SummaryText(const RunSummary& run, const ScreenOptions& options);
// A part of the contract of analyze_json.h, under the same names, with "summary": true.
std::string SummaryJson(const RunSummary& run, std::string_view version);

}  // namespace tacho
