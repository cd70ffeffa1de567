// The report on kernels by the NVTX ranges in which they are launched.
#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "stats/grouped_table.h"
#include "stats/range_sweep.h"
#include "stats/reports.h"

namespace tacho {
namespace {

// Gives a number to each pair of name and style. By index in `ranges`: the number of that range.
std::vector<uint32_t> NameIds(const std::vector<NvtxRange>& ranges) {
  std::unordered_map<std::string_view, uint32_t> known[2];  // indexed by style
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

// A set of numbers. It is cheap if numbers that are added one after the other are close together.
class NumberSet {
 public:
  void Add(uint64_t number) {
    if (number / 64 != block_) {
      if (bits_ != 0) blocks_[block_] |= bits_;
      block_ = number / 64;
      bits_ = 0;
    }
    bits_ |= uint64_t{1} << number % 64;
  }
  [[nodiscard]] int64_t Size() {
    blocks_[block_] |= bits_;
    int64_t size = 0;
    for (const auto& [block, bits] : blocks_) size += std::popcount(bits);
    return size;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> blocks_;  // by number / 64: 64 bits, one for each number
  uint64_t block_ = 0, bits_ = 0;                  // the block used last, not stored yet
};

// The kernels of one name that were launched on one thread inside ranges of one name.
struct KernelsInRange {
  // Durations, by how many of these ranges contain the kernel.
  std::map<uint64_t, std::vector<int64_t>> times;
  NumberSet ranges;
  int64_t kernels = 0;
};

class KernelsByRange {
 public:
  // Sorted as in nsys. Traces with the same thread share their rows.
  struct Key {
    Cell range = {}, pid = {}, tid = {}, style = {};
    std::string kernel = {};
    auto operator<=>(const Key&) const = default;
  };

  void Add(const StatsTrace& stats) {
    const std::vector<uint32_t> names = NameIds(stats.ranges());
    // By number of the name: ranges around the current launch.
    std::vector<std::vector<uint32_t>> around(stats.ranges().size());
    std::vector<uint32_t> of_launch;  // names of the ranges around the current launch
    row_of_.clear();
    cut_ += ForEachLaunch(stats, true, [&](const LaunchInRanges& launch) {
      for (const uint32_t range : launch.ranges) {
        if (around[names[range]].empty()) of_launch.push_back(names[range]);
        around[names[range]].push_back(range);
      }
      for (const uint32_t name : of_launch) Add(stats, launch, name, around[name]);
      if (of_launch.empty()) Add(stats, launch, kNoRange, {});
      for (const uint32_t name : of_launch) around[name].clear();
      of_launch.clear();
    });
    ranges_before_ += stats.ranges().size();
  }
  [[nodiscard]] std::map<Key, KernelsInRange>& rows() { return rows_; }
  [[nodiscard]] size_t cut() const { return cut_; }

 private:
  // `ranges`: those ranges around the launch that have this name.
  void Add(const StatsTrace& stats, const LaunchInRanges& launch, uint32_t name,
           const std::vector<uint32_t>& ranges) {
    const KernelsInRange* last = nullptr;
    for (const uint32_t kernel : launch.work) {
      KernelsInRange& row = RowOf(stats, launch.call, name, ranges, kernel);
      row.times[std::max<uint64_t>(ranges.size(), 1)].push_back(stats.trace().gpu.duration[kernel]);
      ++row.kernels;
      if (std::exchange(last, &row) == &row) continue;
      for (const uint32_t range : ranges) row.ranges.Add(ranges_before_ + range);
    }
  }

  KernelsInRange& RowOf(const StatsTrace& stats, uint32_t call, uint32_t name,
                        const std::vector<uint32_t>& ranges, uint32_t kernel) {
    const StringId of = stats.trace().gpu.name[kernel];
    const bool has_call = call != LaunchLinks::kNone;
    const TrackId track = has_call ? stats.trace().host_calls.track[call] : TrackId{};
    const uint32_t thread = has_call ? static_cast<uint32_t>(Index(track)) : kNoRange;
    KernelsInRange*& row = row_of_[{thread, name, of}];
    if (row != nullptr) return *row;
    Key key{.kernel = std::string(stats.Text(of))};
    if (!ranges.empty()) {
      const NvtxRange& range = stats.ranges()[ranges.front()];
      key.range = range.name;
      key.style = std::string(range.style());
    }
    if (has_call) {
      key.pid = stats.Pid(track);
      key.tid = stats.Tid(track);
    }
    row = &rows_[std::move(key)];
    return *row;
  }

  std::map<Key, KernelsInRange> rows_;
  // Rows of the current trace, by thread, name of the ranges, and kernel.
  std::map<std::tuple<uint32_t, uint32_t, StringId>, KernelsInRange*> row_of_;
  uint64_t ranges_before_ = 0;
  size_t cut_ = 0;
};

std::vector<Cell> CellsOf(const KernelsByRange::Key& key, KernelsInRange& row) {
  std::vector<FigureList> lists;
  for (const auto& [times, values] : row.times) lists.push_back({values, times});
  const Figures figures = FiguresOf(lists);
  std::vector<Cell> cells{key.range,         key.style,   key.pid,      key.tid,
                          row.ranges.Size(), row.kernels, figures.total};
  AppendFigures(figures, cells);
  cells.emplace_back(key.kernel);
  return cells;
}

}  // namespace

// A kernel belongs to all ranges around its launch call on the thread of that call. If no range is
// around the call, the kernel counts for a range without a name. If its launch call is unknown, it
// counts for a range without a name and without a thread.
Table NvtxKernelSummary(std::span<const StatsTrace> traces, size_t /*most*/) {
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
  table.lacks = LacksRangesOf(rows.cut());
  for (auto& [key, row] : rows.rows()) table.Add(CellsOf(key, row));
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

}  // namespace tacho
