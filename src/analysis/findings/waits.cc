#include "analysis/findings/waits.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tacho {
namespace {

constexpr double kMostMatched = 0.5;  // as FindStragglers asks for

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

}  // namespace

WaitsOfRun SplitWaits(const RunAnalysis& run, DurationNs exposed_comm) {
  const RankBlame& blame = run.ranks.blame;
  if (run.ranks.rows.size() < 2 || !run.together.empty() || exposed_comm <= DurationNs{}) return {};
  if (blame.absent == RankBlame::Absent::kNoCollectives) return {};
  if (blame.absent != RankBlame::Absent::kNo) return {.because = WhyUnknown::kBlame};
  if (blame.matched_share < kMostMatched) return {.because = WhyUnknown::kFewMatched};

  WaitsSplit split;
  split.exact = blame.matched_share >= 1;
  DurationNs waits;
  std::vector<DurationNs> uncertain(run.ranks.rows.size());  // of what each rank waited
  std::vector<DurationNs> waits_of(run.traces.size());
  for (const RankBlame::Row& row : blame.table) {
    const size_t trace = run.ranks.rows[row.rank].input;
    const CommTime time = CommTimeOf(run.traces[trace]);
    const DurationNs not_exposed = std::max(DurationNs{}, time.kernels - time.exposed);
    const DurationNs sure =
        std::clamp(row.suffered - not_exposed, DurationNs{}, std::max(DurationNs{}, time.exposed));
    uncertain[row.rank] = row.suffered - sure;
    split.exact = split.exact && not_exposed.ns == 0;
    waits_of[trace] += sure;
    waits += sure;
  }
  waits = std::min(waits, exposed_comm);
  for (const TraceAnalysis* trace : TimedRanksOf(run)) {
    const auto index = static_cast<size_t>(trace - run.traces.data());
    split.traces.push_back({index, waits_of[index], CommTimeOf(*trace).exposed - waits_of[index]});
  }
  split.skew = waits;
  for (Straggler& straggler : FindStragglers(run.ranks)) {
    DurationNs cost = straggler.time;
    for (size_t rank = 0; rank < uncertain.size(); ++rank) {
      if (rank != straggler.row) cost -= uncertain[rank];
    }
    cost = std::clamp(cost, DurationNs{}, split.skew);
    split.skew -= cost;
    split.ranks.push_back({std::move(straggler), cost});
  }
  split.transfer = exposed_comm - waits;
  return {.split = std::move(split)};
}

}  // namespace tacho
