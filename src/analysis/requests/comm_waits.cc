#include "analysis/requests/comm_waits.h"

#include <algorithm>
#include <iterator>

namespace tacho {
namespace {

// Finds the cells of an engine's time that an interval overlaps.
class CellTimes {
 public:
  explicit CellTimes(const StepCells& cells) {
    for (const StepCells::Step& step : cells.steps) {
      cuts_.push_back(step.work.start);
      cuts_.push_back(step.work.end);
    }
  }
  // Adds to each cell's time in `to` how long `when` overlaps the cell.
  void Add(Interval when, std::vector<DurationNs>& to) const {
    auto cut = std::ranges::upper_bound(cuts_, when.start);
    if (cut == cuts_.begin() && cut != cuts_.end()) ++cut;  // before the first step
    for (; cut != cuts_.end() && *std::prev(cut) < when.end; ++cut)
      to[static_cast<size_t>(cut - cuts_.begin())] += when.Clip({*std::prev(cut), *cut}).length();
  }

 private:
  std::vector<TimeNs> cuts_;
};

}  // namespace

std::vector<Interval> WaitsOf(uint32_t rank, const MatchedCollectives& matched,
                              const std::vector<CommRank>& ranks) {
  // A collective's times may be on the clock of another rank; kernels have the trace's own times.
  std::vector<std::pair<uint32_t, Interval>> kernels;  // sorted by row of the trace
  for (const CommSeries& series : *ranks[rank].series) {
    for (const CommKernel& kernel : series.kernels) kernels.emplace_back(kernel.row, kernel.when);
  }
  std::ranges::sort(kernels, {}, &std::pair<uint32_t, Interval>::first);
  std::vector<Interval> waits;
  for (const Collective& collective : matched.collectives) {
    const auto part = std::ranges::find(collective.parts, rank, &Collective::Part::rank);
    if (part == collective.parts.end()) continue;
    const DurationNs transfer =
        std::ranges::min_element(collective.parts, {}, &Collective::Part::length)->length;
    const auto kernel =
        std::ranges::lower_bound(kernels, part->row, {}, &std::pair<uint32_t, Interval>::first);
    if (part->length <= transfer || kernel == kernels.end() || kernel->first != part->row) continue;
    const TimeNs start = kernel->second.start;
    waits.push_back({start, start + (part->length - transfer)});
  }
  return waits;
}

std::vector<DurationNs> SkewOfCells(const StepCells& cells,
                                    const std::vector<CommSeries>& communication,
                                    const std::vector<Interval>& waits) {
  const CellTimes times(cells);
  std::vector<DurationNs> skew(cells.cells.size()), all(cells.cells.size());
  if (!cells.HasCells()) return skew;
  for (const Interval& wait : waits) times.Add(wait, skew);
  for (const CommSeries& series : communication) {
    for (const CommKernel& kernel : series.kernels) times.Add(kernel.when, all);
  }
  for (size_t i = 0; i < skew.size(); ++i) {
    const DurationNs exposed = cells.cells[i].comm;
    const DurationNs hidden = std::max(DurationNs{}, all[i] - exposed);
    skew[i] = std::clamp(skew[i] - hidden, DurationNs{}, exposed);
  }
  return skew;
}

}  // namespace tacho
