// Reports about NVTX ranges, and about where the work launched inside them runs on the GPU.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/time.h"
#include "stats/grouped_table.h"
#include "stats/range_sweep.h"
#include "stats/reports.h"

namespace tacho {
namespace {

Cell AverageOf(int64_t total, int64_t count) {
  return RoundAsSqlite(static_cast<double>(total) / static_cast<double>(count), 1);
}

}  // namespace

Table NvtxSummary(std::span<const StatsTrace> traces, size_t /*most*/) {
  StatsGroups groups;
  std::unordered_map<std::string, uint32_t> known[2];  // indexed by style
  for (const StatsTrace& trace : traces) {
    for (const NvtxRange& range : trace.ranges()) {
      const auto [group, added] = known[range.is_start_end ? 1 : 0].try_emplace(range.name, 0);
      if (added) group->second = groups.GroupOf({range.style(), range.name});
      groups.Add(group->second, range.when.length().ns);
    }
  }
  return TimeSummary("nvtx_sum", "Instances", {StatsText("Style"), StatsName("Range")},
                     std::move(groups));
}

namespace {

// The time on the GPU of the work launched inside a range: from its first start to its last end.
struct Projection {
  const StatsTrace* trace;
  uint32_t range;
  Interval work;
  int64_t operations = 0;  // launches of GPU work
  int64_t children = 0;    // ranges directly inside it that launched work
  int64_t level = 0;       // number of ranges around it
};

// Adds to `cut` the number of launches whose outermost ranges were left out.
std::vector<Projection> ProjectRanges(const StatsTrace& stats, size_t& cut) {
  const GpuTable& gpu = stats.trace().gpu;
  const std::vector<NvtxRange>& ranges = stats.ranges();
  std::vector<uint32_t> of_range(ranges.size(), kNoRange);
  std::vector<Projection> projections;
  cut += ForEachLaunch(stats, false, [&](const LaunchInRanges& launch) {
    for (const uint32_t range : launch.ranges) {
      if (of_range[range] == kNoRange) {
        of_range[range] = static_cast<uint32_t>(projections.size());
        projections.push_back({&stats, range, gpu.When(launch.work.front())});
      }
      Projection& projection = projections[of_range[range]];
      for (const uint32_t row : launch.work) {
        projection.work.start = std::min(projection.work.start, gpu.When(row).start);
        projection.work.end = std::max(projection.work.end, gpu.When(row).end);
      }
      ++projection.operations;
    }
  });
  const std::vector<uint32_t> parents = ParentsOf(ranges);
  std::vector<int64_t> levels(ranges.size());
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (parents[i] != kNoRange) levels[i] = levels[parents[i]] + 1;  // parents come first
  }
  for (Projection& projection : projections) {
    projection.level = levels[projection.range];
    const uint32_t parent = parents[projection.range];
    if (parent != kNoRange && of_range[parent] != kNoRange)
      ++projections[of_range[parent]].children;
  }
  return projections;
}

}  // namespace

Table NvtxProjectionSummary(std::span<const StatsTrace> traces, size_t /*most*/) {
  struct Sums {
    std::vector<int64_t> times;
    int64_t range_time = 0, operations = 0, levels = 0, children = 0;
  };
  std::map<std::pair<std::string, bool>, Sums> rows;
  size_t cut = 0;
  for (const StatsTrace& trace : traces) {
    for (const Projection& projection : ProjectRanges(trace, cut)) {
      const NvtxRange& range = trace.ranges()[projection.range];
      Sums& sums = rows[{range.name, range.is_start_end}];
      sums.times.push_back(projection.work.length().ns);
      sums.range_time = AddSaturated(sums.range_time, range.when.length().ns);
      sums.operations += projection.operations;
      sums.levels += projection.level;
      sums.children += projection.children;
    }
  }
  Table table{
      "nvtx_gpu_proj_sum",
      {StatsName("Range"), StatsText("Style").GivesWay(3),
       StatsInteger("Total Proj Time (ns)").Adds(),
       StatsInteger("Total Range Time (ns)").Adds().GivesWay(2),
       StatsInteger("Range Instances").Adds(), StatsNumber("Proj Avg (ns)"),
       StatsNumber("Proj Med (ns)").GivesWay(1), StatsInteger("Proj Min (ns)").GivesWay(2),
       StatsInteger("Proj Max (ns)").GivesWay(2), StatsNumber("Proj StdDev (ns)").GivesWay(3),
       StatsInteger("Total GPU Ops").Adds(), StatsNumber("Avg GPU Ops").GivesWay(3),
       StatsNumber("Avg Range Lvl").GivesWay(3), StatsNumber("Avg Num Child").GivesWay(3)},
      {}};
  table.lacks = LacksRangesOf(cut);
  for (auto& [key, sums] : rows) {
    const Figures figures = FiguresOf(sums.times);
    std::vector<Cell> cells{key.first, std::string(key.second ? "StartEnd" : "PushPop"),
                            figures.total, sums.range_time, figures.count};
    AppendFigures(figures, cells);
    cells.emplace_back(sums.operations);
    for (const int64_t total : {sums.operations, sums.levels, sums.children})
      cells.push_back(AverageOf(total, figures.count));
    table.Add(std::move(cells));
  }
  constexpr size_t kTotal = 2;
  std::ranges::stable_sort(table.rows, std::greater(),
                           [](const TableRow& row) { return row.cells[kTotal]; });
  return table;
}

Table NvtxProjectionTrace(std::span<const StatsTrace> traces, size_t /*most*/) {
  Table table{"nvtx_gpu_proj_trace", {StatsName("Name")}, {}};
  for (const char* const name : {"Projected Start (ns)", "Projected Duration (ns)"})
    table.columns.push_back(StatsInteger(name));
  for (const char* const name : {"Orig Start (ns)", "Orig Duration (ns)"})
    table.columns.push_back(StatsInteger(name).GivesWay(2));
  table.columns.push_back(StatsText("Style").GivesWay(3));
  for (const char* const name :
       {"PID", "TID", "NumGPUOps", "Lvl", "NumChild", "RangeId", "ParentId"})
    table.columns.push_back(StatsInteger(name).GivesWay(1));
  table.columns.push_back(StatsText("RangeStack").GivesWay(3));
  int64_t ids_before = 1;
  size_t cut = 0;
  for (const StatsTrace& trace : traces) {
    const std::vector<uint32_t> parents = ParentsOf(trace.ranges());
    for (const Projection& projection : ProjectRanges(trace, cut)) {
      const NvtxRange& range = trace.ranges()[projection.range];
      const uint32_t parent = parents[projection.range];
      std::string stack;
      constexpr size_t kLongest = 10'000;
      for (uint32_t i = projection.range; i != kNoRange && stack.size() < kLongest; i = parents[i])
        stack.insert(0, ":" + std::to_string(ids_before + i));
      table.Add({range.name, projection.work.start.ns, projection.work.length().ns,
                 range.when.start.ns, range.when.length().ns, std::string(range.style()),
                 trace.Pid(range.track), trace.Tid(range.track), projection.operations,
                 projection.level, projection.children, ids_before + projection.range,
                 parent == kNoRange ? Cell() : Cell(ids_before + parent), std::move(stack)});
    }
    ids_before += static_cast<int64_t>(trace.ranges().size());
  }
  table.lacks = LacksRangesOf(cut);
  constexpr size_t kStart = 1, kDuration = 2;
  std::ranges::stable_sort(table.rows, [](const TableRow& a, const TableRow& b) {
    return a.cells[kStart] != b.cells[kStart] ? a.cells[kStart] < b.cells[kStart]
                                              : a.cells[kDuration] > b.cells[kDuration];
  });
  return table;
}

}  // namespace tacho
