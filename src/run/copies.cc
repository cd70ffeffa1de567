#include "run/copies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/run_place.h"

namespace tacho {
namespace {

// The worker in whose folder of a recording the trace lies; "" elsewhere.
std::string WorkerOf(const TraceAnalysis& trace) {
  const auto place = RunPlaceOf(trace.path);
  return place ? place->worker : "";
}

bool IsCopy(const TraceAnalysis& a, const TraceAnalysis& b) {
  return IsRank(a.facts.role) && !a.span.empty() && IsSameTrace(a, b) && a.scope == b.scope &&
         a.facts.role == b.facts.role && a.facts.pids == b.facts.pids &&
         std::ranges::equal(a.devices, b.devices,
                            [](const DeviceTime& x, const DeviceTime& y) {
                              return x.device == y.device && x.window == y.window &&
                                     x.kernel_sum == y.kernel_sum;
                            }) &&
         WorkerOf(a) == WorkerOf(b);
}

}  // namespace

void LeaveOutCopies(RunAnalysis& run) {
  std::map<std::optional<int64_t>, std::vector<size_t>> of_rank;  // indexes into `kept`
  std::vector<TraceAnalysis> kept;
  kept.reserve(run.traces.size());
  for (TraceAnalysis& trace : run.traces) {
    std::vector<size_t>& same_rank = of_rank[trace.facts.rank];
    const auto first =
        std::ranges::find_if(same_rank, [&](size_t i) { return IsCopy(kept[i], trace); });
    if (first != same_rank.end()) {
      run.skipped.push_back(trace.path + ": a copy of " + kept[*first].path);
      continue;
    }
    same_rank.push_back(kept.size());
    kept.push_back(std::move(trace));
  }
  run.traces = std::move(kept);
  std::ranges::sort(run.skipped);
}

}  // namespace tacho
