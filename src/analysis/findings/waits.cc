#include "analysis/findings/waits.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/share.h"

namespace tacho {
namespace {

constexpr double kMostMatched = 0.5;  // the share of matched kernels that FindStragglers needs

bool IsCommunicationCategory(std::string_view category) {
  return category == "comm" || category.starts_with("comm.");
}

struct CommTime {
  DurationNs kernels, exposed;
};
CommTime CommTimeOf(const TraceAnalysis& trace) {
  CommTime time;
  for (const DeviceTime& device : trace.devices) {
    time.exposed += device.exposed_comm;
    for (const StreamTime& stream : device.streams) {
      for (const CategoryRow& row : stream.categories) {
        if (IsCommunicationCategory(row.category)) time.kernels += row.total;
      }
    }
  }
  return time;
}

// Whether the device times of some rank are refused. Such a rank takes part in collectives, but its
// kernels are not matched.
bool HasUntimedRanks(const RunAnalysis& run) {
  return std::ranges::any_of(
      RanksOf(run), [](const TraceAnalysis* trace) { return !trace->integrity.device_times(); });
}

}  // namespace

WaitsOfRun SplitWaits(const RunAnalysis& run, DurationNs exposed_comm) {
  const RankBlame& blame = run.ranks.blame;
  if (run.ranks.rows.size() < 2 || !run.together.empty() || exposed_comm <= DurationNs{}) return {};
  if (blame.absent == RankBlame::Absent::kNoCollectives) return {};
  if (blame.absent != RankBlame::Absent::kNo) return {.because = WhyUnknown::kBlame};
  if (blame.matched_share < kMostMatched) return {.because = WhyUnknown::kFewMatched};

  WaitsSplit split;
  split.partial = blame.matched_share < 1 || run.ranks.has_others || HasUntimedRanks(run);
  DurationNs waits, suffered;
  std::vector<DurationNs> waits_of(run.traces.size());
  for (const RankBlame::Row& row : blame.table) {
    const size_t trace = run.ranks.rows[row.rank].input;
    const CommTime time = CommTimeOf(run.traces[trace]);
    const DurationNs not_exposed = std::max(DurationNs{}, time.kernels - time.exposed);
    const DurationNs sure =
        std::clamp(row.suffered - not_exposed, DurationNs{}, std::max(DurationNs{}, time.exposed));
    split.overlaps = split.overlaps || not_exposed.ns > 0;
    split.partial = split.partial || run.traces[trace].scope.window;
    waits_of[trace] += sure;
    waits += sure;
    suffered += row.suffered;
  }
  waits = std::min(waits, exposed_comm);
  for (const TraceAnalysis* trace : TimedRanksOf(run)) {
    const auto index = static_cast<size_t>(trace - run.traces.data());
    split.traces.push_back({index, waits_of[index], CommTimeOf(*trace).exposed - waits_of[index]});
  }
  split.skew = waits;
  for (Straggler& straggler : FindStragglers(run.ranks)) {
    // Assumes that the exposed share is the same for the waits that it caused as for all waits.
    const double cost_ns = static_cast<double>(straggler.time.ns) * ShareOf(waits, suffered);
    const DurationNs cost = std::min(DurationNs{std::llround(cost_ns)}, split.skew);
    split.skew -= cost;
    split.ranks.push_back({std::move(straggler), cost});
  }
  split.transfer = exposed_comm - waits;
  return {.split = std::move(split)};
}

}  // namespace tacho
