// Reports of NVTX ranges, and of the GPU work that is launched in them.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "stats/range_sweep.h"
#include "stats/reports.h"
#include "stats/summary.h"

namespace tacho {
namespace {

const char* StyleOf(const NvtxRange& range) { return range.is_start_end ? "StartEnd" : "PushPop"; }

Cell AverageOf(int64_t total, int64_t count) {
  return RoundAsSqlite(static_cast<double>(total) / static_cast<double>(count), 1);
}

// A number for each name and style.
std::vector<uint32_t> NameIds(const std::vector<NvtxRange>& ranges) {
  std::unordered_map<std::string_view, uint32_t> known[2];  // by style
  std::vector<uint32_t> ids;
  ids.reserve(ranges.size());
  uint32_t next = 0;
  for (const NvtxRange& range : ranges) {
    const auto [id, added] = known[range.is_start_end ? 1 : 0].try_emplace(range.name, next);
    next += added ? 1 : 0;
    ids.push_back(id->second);
  }
  return ids;
}

size_t CountDistinct(std::vector<uint32_t> ids) {
  std::ranges::sort(ids);
  return static_cast<size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
}

}  // namespace

Table NvtxSummary(std::span<const StatsTrace> traces) {
  StatsGroups groups;
  std::unordered_map<std::string, uint32_t> known[2];  // by style
  for (const StatsTrace& trace : traces) {
    for (const NvtxRange& range : trace.ranges()) {
      const auto [group, added] = known[range.is_start_end ? 1 : 0].try_emplace(range.name, 0);
      if (added) group->second = groups.GroupOf({StyleOf(range), range.name});
      groups.Add(group->second, range.when.length().ns);
    }
  }
  return TimeSummary("nvtx_sum", "Instances", {StatsText("Style"), StatsName("Range")},
                     std::move(groups));
}

namespace {

// The kernels of one name that were launched in ranges of one name on one thread.
struct KernelsInRange {
  const StatsTrace* trace = nullptr;
  uint32_t range = kNoRange;  // one of them; kNoRange: the kernels are of none
  uint32_t call = LaunchLinks::kNone, kernel = 0;
  std::vector<int64_t> times;
  std::vector<uint32_t> ranges, kernels;
};

class KernelsByRange {
 public:
  void Add(const StatsTrace& stats) {
    const std::vector<uint32_t> names = NameIds(stats.ranges());
    row_of_.clear();
    for (const LaunchInRanges& launch : LaunchesInRanges(stats, true)) {
      for (const uint32_t kernel : launch.work) {
        for (const uint32_t range : launch.ranges) Add(stats, launch, range, names[range], kernel);
        if (launch.ranges.empty()) Add(stats, launch, kNoRange, kNoRange, kernel);
      }
    }
  }
  std::vector<KernelsInRange> Take() { return std::move(rows_); }

 private:
  void Add(const StatsTrace& stats, const LaunchInRanges& launch, uint32_t range, uint32_t name,
           uint32_t kernel) {
    KernelsInRange& row = rows_[RowOf(stats, launch.call, name, kernel)];
    if (row.trace == nullptr) row = {&stats, range, launch.call, kernel, {}, {}, {}};
    row.times.push_back(stats.trace().gpu.duration[kernel]);
    if (range != kNoRange) row.ranges.push_back(range);
    // Of several traces only without a launch: then each kernel comes once.
    if (launch.call != LaunchLinks::kNone) row.kernels.push_back(kernel);
  }

  size_t RowOf(const StatsTrace& stats, uint32_t call, uint32_t name, uint32_t kernel) {
    const StringId of = stats.trace().gpu.name[kernel];
    size_t* row = nullptr;
    if (call == LaunchLinks::kNone) {
      row = &without_call_.try_emplace(std::string(stats.Text(of)), rows_.size()).first->second;
    } else {
      const auto thread = static_cast<uint32_t>(Index(stats.trace().host_calls.track[call]));
      row = &row_of_.try_emplace({thread, name, of}, rows_.size()).first->second;
    }
    if (*row == rows_.size()) rows_.emplace_back();
    return *row;
  }

  std::vector<KernelsInRange> rows_;
  std::map<std::tuple<uint32_t, uint32_t, StringId>, size_t> row_of_;  // thread, range, kernel
  std::map<std::string, size_t> without_call_;                         // kernel
};

std::vector<Cell> CellsOf(KernelsInRange row) {
  const Figures figures = FiguresOf(row.times);
  std::vector<Cell> cells(4);
  if (row.range != kNoRange) {
    const NvtxRange& range = row.trace->ranges()[row.range];
    cells[0] = range.name;
    cells[1] = std::string(StyleOf(range));
  }
  const bool has_call = row.call != LaunchLinks::kNone;
  if (has_call) {
    const TrackId track = row.trace->trace().host_calls.track[row.call];
    cells[2] = row.trace->Pid(track);
    cells[3] = row.trace->Tid(track);
  }
  cells.push_back(CountCell(CountDistinct(std::move(row.ranges))));
  cells.push_back(has_call ? CountCell(CountDistinct(std::move(row.kernels)))
                           : Cell(figures.count));
  cells.emplace_back(figures.total);
  AppendFigures(figures, cells);
  cells.emplace_back(std::string(row.trace->Text(row.trace->trace().gpu.name[row.kernel])));
  return cells;
}

}  // namespace

// A kernel is of all ranges on the thread of its launch call that lie around the call; one of none
// is of a range without a name, and one whose launch is unknown of no thread either.
Table NvtxKernelSummary(std::span<const StatsTrace> traces) {
  KernelsByRange rows;
  bool has_ranges = false;
  for (const StatsTrace& trace : traces) {
    has_ranges = has_ranges || !trace.ranges().empty();
    rows.Add(trace);
  }
  Table table{
      "nvtx_kern_sum",
      {StatsName("NVTX Range"), StatsText("Style").GivesWay(3), StatsInteger("PID").GivesWay(2),
       StatsInteger("TID").GivesWay(2), StatsInteger("NVTX Inst").GivesWay(2),
       StatsInteger("Kern Inst").Adds(), StatsInteger("Total Time (ns)").Adds(),
       StatsNumber("Avg (ns)").GivesWay(1), StatsNumber("Med (ns)").GivesWay(2),
       StatsInteger("Min (ns)").GivesWay(3), StatsInteger("Max (ns)").GivesWay(3),
       StatsNumber("StdDev (ns)").GivesWay(3), StatsName("Kernel Name")},
      {}};
  if (!has_ranges) return table;
  for (KernelsInRange& row : rows.Take()) table.Add(CellsOf(std::move(row)));
  constexpr size_t kRange = 0, kPid = 2, kTid = 3, kTotal = 6, kKernel = 12;
  std::ranges::stable_sort(table.rows, [](const TableRow& a, const TableRow& b) {
    const auto before = [](const TableRow& row) {
      return std::tie(row.cells[kRange], row.cells[kPid], row.cells[kTid]);
    };
    if (before(a) != before(b)) return before(a) < before(b);
    if (a.cells[kTotal] != b.cells[kTotal]) return a.cells[kTotal] > b.cells[kTotal];
    return a.cells[kKernel] < b.cells[kKernel];
  });
  return table;
}

namespace {

// What a range launched: from the first begin of it on the GPU to the last end.
struct Projection {
  const StatsTrace* trace;
  uint32_t range;
  Interval work;
  int64_t operations = 0;  // launches of GPU work
  int64_t children = 0;    // ranges right inside that launched any
  int64_t level = 0;       // ranges around it
};

std::vector<Projection> ProjectRanges(const StatsTrace& stats) {
  const GpuTable& gpu = stats.trace().gpu;
  const std::vector<NvtxRange>& ranges = stats.ranges();
  std::vector<uint32_t> of_range(ranges.size(), kNoRange);
  std::vector<Projection> projections;
  for (const LaunchInRanges& launch : LaunchesInRanges(stats, false)) {
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
  }
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

Table NvtxProjectionSummary(std::span<const StatsTrace> traces) {
  struct Sums {
    std::vector<int64_t> times;
    int64_t range_time = 0, operations = 0, levels = 0, children = 0;
  };
  std::map<std::pair<std::string, bool>, Sums> rows;
  for (const StatsTrace& trace : traces) {
    for (const Projection& projection : ProjectRanges(trace)) {
      const NvtxRange& range = trace.ranges()[projection.range];
      Sums& sums = rows[{range.name, range.is_start_end}];
      sums.times.push_back(projection.work.length().ns);
      sums.range_time += range.when.length().ns;
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

Table NvtxProjectionTrace(std::span<const StatsTrace> traces) {
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
  for (const StatsTrace& trace : traces) {
    const std::vector<uint32_t> parents = ParentsOf(trace.ranges());
    for (const Projection& projection : ProjectRanges(trace)) {
      const NvtxRange& range = trace.ranges()[projection.range];
      const uint32_t parent = parents[projection.range];
      std::string stack;
      constexpr size_t kLongest = 10'000;
      for (uint32_t i = projection.range; i != kNoRange && stack.size() < kLongest; i = parents[i])
        stack.insert(0, ":" + std::to_string(ids_before + i));
      table.Add({range.name, projection.work.start.ns, projection.work.length().ns,
                 range.when.start.ns, range.when.length().ns, std::string(StyleOf(range)),
                 trace.Pid(range.track), trace.Tid(range.track), projection.operations,
                 projection.level, projection.children, ids_before + projection.range,
                 parent == kNoRange ? Cell() : Cell(ids_before + parent), std::move(stack)});
    }
    ids_before += static_cast<int64_t>(trace.ranges().size());
  }
  constexpr size_t kStart = 1, kDuration = 2;
  std::ranges::stable_sort(table.rows, [](const TableRow& a, const TableRow& b) {
    return a.cells[kStart] != b.cells[kStart] ? a.cells[kStart] < b.cells[kStart]
                                              : a.cells[kDuration] > b.cells[kDuration];
  });
  return table;
}

}  // namespace tacho
