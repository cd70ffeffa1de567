// Reports of what ran on the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "stats/grouped_table.h"
#include "stats/reports.h"

namespace tacho {
namespace {

// In columns: " 244    1    6".
std::string ShownXyz(const std::optional<LaunchSizes::Xyz>& xyz) {
  return xyz ? fmt::format("{:>4} {:>4} {:>4}", (*xyz)[0], (*xyz)[1], (*xyz)[2]) : "";
}

// Megabytes as nsys prints them with printf: 7500 bytes are 0.007, because the double is slightly
// below 0.0075.
Cell Megabytes(double bytes) {
  return std::strtod(fmt::format("{:.3f}", bytes / 1e6).c_str(), nullptr);
}

// The least width of a kernel's name. If a line is too long, figures are left out before a name
// becomes shorter, because the template arguments in it distinguish the kernel from others.
constexpr size_t kLegibleKernel = 38;

}  // namespace

Table GpuKernelSummary(const WorkTimes& times, size_t threads) {
  StatsGroups groups;
  for (const WorkTimes::Kernel& kernel : times.kernels)
    groups.Add(groups.GroupOf({kernel.name}), kernel.ns);
  return TimeSummary("cuda_gpu_kern_sum", "Instances", {StatsName("Name").Distinct(kLegibleKernel)},
                     std::move(groups), threads);
}

Table GpuKernelGridSummary(const WorkTimes& times, size_t threads) {
  StatsGroups groups;
  for (const WorkTimes::Kernel& kernel : times.kernels)
    groups.Add(groups.GroupOf({ShownXyz(kernel.grid), ShownXyz(kernel.block), kernel.name}),
               kernel.ns);
  return TimeSummary("cuda_gpu_kern_gb_sum", "Instances",
                     {StatsText("GridXYZ"), StatsText("BlockXYZ").GivesWay(1), StatsName("Name")},
                     std::move(groups), threads);
}

Table GpuMemoryTimeSummary(const WorkTimes& times, size_t threads) {
  StatsGroups groups;
  for (const WorkTimes::MemoryWork& work : times.memory)
    groups.Add(groups.GroupOf({OperationName(work.kind, work.name)}), work.ns);
  return TimeSummary("cuda_gpu_mem_time_sum", "Count", {StatsName("Operation")}, std::move(groups),
                     threads);
}

Table GpuMemorySizeSummary(const WorkTimes& times, size_t threads) {
  StatsGroups groups;
  for (const WorkTimes::MemoryWork& work : times.memory)
    groups.Add(groups.GroupOf({OperationName(work.kind, work.name)}), work.bytes);
  Table table{"cuda_gpu_mem_size_sum",
              {StatsNumber("Total (MB)", 3).Adds(), StatsInteger("Count").Adds(),
               StatsNumber("Avg (MB)", 3), StatsNumber("Med (MB)", 3), StatsNumber("Min (MB)", 3),
               StatsNumber("Max (MB)", 3), StatsNumber("StdDev (MB)", 3), StatsName("Operation")},
              {}};
  for (const auto& row : std::move(groups).Finish(threads)) {
    const Figures& f = row.figures;
    table.Add({Megabytes(static_cast<double>(f.total)), f.count, Megabytes(f.avg), Megabytes(f.med),
               Megabytes(static_cast<double>(f.min)), Megabytes(static_cast<double>(f.max)),
               Megabytes(f.stddev), row.key[0]});
  }
  return table;
}

namespace {

// Makes the rows of cuda_gpu_trace for one trace.
class GpuTraceRows {
 public:
  explicit GpuTraceRows(const StatsTrace& trace)
      : trace_(trace), bytes_(trace.trace(), "bytes"), context_(trace.trace(), "context") {
    for (const DeviceProperties& device : trace.trace().header.devices)
      names_.emplace_back(device.id, device.name);
  }

  [[nodiscard]] std::vector<Cell> CellsOf(uint32_t row) const {
    const Trace& trace = trace_.trace();
    const GpuTable& gpu = trace.gpu;
    const ArgsOf args = GpuArgs(trace, row);
    const Stream& stream = trace.words[gpu.stream[row]];
    const bool is_kernel = gpu.kind[row] == SliceKind::kKernel;
    std::vector<Cell> cells{gpu.start[row].ns, gpu.duration[row],
                            UnlessNegative(gpu.correlation[row])};
    const LaunchSizes& launch = trace_.LaunchOf(row);
    for (const std::optional<LaunchSizes::Xyz>& xyz : {launch.grid, launch.block}) {
      for (size_t i = 0; i < 3; ++i) cells.push_back(xyz ? Cell(int64_t{(*xyz)[i]}) : Cell());
    }
    cells.push_back(CellOf(launch.registers));
    for (const auto& size : {launch.static_shared_bytes, launch.dynamic_shared_bytes}) {
      cells.push_back(size ? Megabytes(static_cast<double>(*size)) : Cell());
    }
    AppendSpeed(is_kernel ? std::nullopt : bytes_.Integer(args), gpu.duration[row], cells);
    AppendMemoryKinds(is_kernel ? "" : trace.Text(gpu.name[row]), cells);
    cells.emplace_back(DeviceName(trace.Text(stream.device)));
    cells.push_back(CellOf(context_.Integer(args)));
    cells.push_back(NumberOrText(trace.Text(stream.stream)));
    cells.emplace_back(is_kernel ? std::string(trace.Text(gpu.name[row]))
                                 : trace_.OperationOf(row));
    return cells;
  }

 private:
  // As in nsys: the bytes times the whole number of such operations that fit into a second.
  static void AppendSpeed(std::optional<int64_t> bytes, int64_t duration,
                          std::vector<Cell>& cells) {
    constexpr int64_t kSecond = 1'000'000'000;
    cells.push_back(bytes ? Megabytes(static_cast<double>(*bytes)) : Cell());
    if (!bytes || duration <= 0) {
      cells.emplace_back();
      return;
    }
    const int64_t a_second = kSecond / duration;
    cells.push_back(Megabytes(static_cast<double>(*bytes) * static_cast<double>(a_second)));
  }

  // Appends the two memory kinds in "Memcpy HtoD (Pageable -> Device)" or the one in "Memset
  // (Device)".
  static void AppendMemoryKinds(std::string_view name, std::vector<Cell>& cells) {
    const size_t open = name.find('('), close = name.rfind(')');
    std::string_view kinds = open < close && close != std::string_view::npos
                                 ? name.substr(open + 1, close - open - 1)
                                 : "";
    constexpr std::string_view kArrow = " -> ";
    const size_t arrow = kinds.find(kArrow);
    const auto cell = [](std::string_view kind) {
      return kind.empty() || kind == "Unknown" ? Cell() : Cell(std::string(kind));
    };
    cells.push_back(cell(kinds.substr(0, arrow)));
    cells.push_back(arrow == std::string_view::npos ? Cell()
                                                    : cell(kinds.substr(arrow + kArrow.size())));
  }

  [[nodiscard]] std::string DeviceName(std::string_view device) const {
    const auto name =
        std::ranges::find(names_, device, &std::pair<std::string, std::string>::first);
    return name == names_.end() ? fmt::format("({})", device)
                                : fmt::format("{} ({})", name->second, device);
  }

  const StatsTrace& trace_;
  ArgReader bytes_, context_;
  std::vector<std::pair<std::string, std::string>> names_;
};

}  // namespace

Table GpuTraceReport(std::span<const StatsTrace> traces, size_t most) {
  Table table{"cuda_gpu_trace", {}, {}};
  for (const char* const name : {"Start (ns)", "Duration (ns)"})
    table.columns.push_back(StatsInteger(name));
  for (const char* const name :
       {"CorrId", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd"})
    table.columns.push_back(StatsInteger(name).GivesWay(1));
  for (const char* const name : {"StcSMem (MB)", "DymSMem (MB)", "Bytes (MB)", "Throughput (MBps)"})
    table.columns.push_back(StatsNumber(name, 3).GivesWay(2));
  for (const char* const name : {"SrcMemKd", "DstMemKd", "Device"})
    table.columns.push_back(StatsText(name).GivesWay(3));
  table.columns.push_back(StatsInteger("Ctx").GivesWay(1));
  table.columns.push_back(StatsInteger("Strm"));
  table.columns.push_back(StatsName("Name"));
  struct Place {
    int64_t start;
    uint32_t trace, row;
  };
  std::vector<Place> places;
  for (uint32_t i = 0; i < traces.size(); ++i) {
    const GpuTable& gpu = traces[i].trace().gpu;
    for (uint32_t row = 0; row < gpu.size(); ++row) {
      const bool is_graph = gpu.kind[row] == SliceKind::kKernel && !traces[i].IsKernel(row);
      if (!is_graph) places.push_back({gpu.start[row].ns, i, row});
    }
  }
  std::ranges::stable_sort(places, {}, &Place::start);
  std::vector<GpuTraceRows> rows;
  for (const StatsTrace& trace : traces) rows.emplace_back(trace);
  // Sums up rows as FoldRows does, but does not compute the cells of rows that are not shown.
  const size_t shown = places.size() <= most + 1 ? places.size() : most;
  for (const Place& place : std::span(places).first(shown))
    table.Add(rows[place.trace].CellsOf(place.row));
  if (shown == places.size()) return table;
  std::vector<Cell> others(table.columns.size());
  others[ColumnOfOthers(table)] = OthersText(places.size() - shown);
  table.Add(std::move(others));
  return table;
}

}  // namespace tacho
