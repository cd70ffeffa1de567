// Reports about calls of CUDA and of the operating system, and about what they launch.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "stats/grouped_table.h"
#include "stats/reports.h"

namespace tacho {
namespace {

std::string TextOf(const Cell& cell) {
  const auto* const number = std::get_if<int64_t>(&cell);
  return number != nullptr ? std::to_string(*number) : std::get<std::string>(cell);
}

}  // namespace

Table ApiSummary(const WorkTimes& times, size_t threads) {
  StatsGroups groups;
  for (const WorkTimes::Call& call : times.calls)
    groups.Add(groups.GroupOf({CallName(call.name, call.version)}), call.ns);
  return TimeSummary("cuda_api_sum", "Num Calls", {StatsName("Name")}, std::move(groups), threads);
}

Table OsRuntimeSummary(const WorkTimes& times, size_t threads) {
  StatsGroups groups;
  for (const WorkTimes::OsCall& call : times.os_calls)
    groups.Add(groups.GroupOf({call.name}), call.ns);
  return TimeSummary("osrt_sum", "Num Calls", {StatsName("Name")}, std::move(groups), threads);
}

namespace {

enum LaunchPart : size_t { kTotalPart, kApiPart, kQueuePart, kKernelPart, kLaunchParts };

// The kernels of one name that one function launched onto a device from one thread.
struct LaunchRow {
  Cell pid, tid, device;
  std::string api, kernel;
  std::array<std::vector<int64_t>, kLaunchParts> times;
};

class LaunchRows {
 public:
  void Add(const StatsTrace& stats) {
    const Trace& trace = stats.trace();
    std::map<std::tuple<TrackId, StreamId, StringId, StringId, int64_t>, LaunchRow*> cache;
    for (uint32_t gpu = 0; gpu < trace.gpu.size(); ++gpu) {
      const uint32_t call = stats.CallOf(gpu);
      if (call == LaunchLinks::kNone || !stats.IsKernel(gpu)) continue;
      const int64_t version = stats.VersionOf(call);
      LaunchRow*& row = cache[{trace.host_calls.track[call], trace.gpu.stream[gpu],
                               trace.host_calls.name[call], trace.gpu.name[gpu], version}];
      if (row == nullptr) row = &RowOf(stats, gpu, call, version);
      const Interval at_host = trace.host_calls.When(call), at_device = trace.gpu.When(gpu);
      row->times[kTotalPart].push_back((std::max(at_host.end, at_device.end) - at_host.start).ns);
      row->times[kApiPart].push_back(at_host.length().ns);
      if (at_device.start >= at_host.end)
        row->times[kQueuePart].push_back((at_device.start - at_host.end).ns);
      row->times[kKernelPart].push_back(at_device.length().ns);
    }
  }
  std::map<std::vector<std::string>, LaunchRow>& rows() { return rows_; }

 private:
  LaunchRow& RowOf(const StatsTrace& stats, uint32_t gpu, uint32_t call, int64_t version) {
    const Trace& trace = stats.trace();
    const TrackId track = trace.host_calls.track[call];
    const Cell pid = stats.Pid(track), tid = stats.Tid(track);
    const std::string_view device = stats.Text(trace.words[trace.gpu.stream[gpu]].device);
    const std::string api = stats.CallNameOf(call, version);
    const std::string kernel(stats.Text(trace.gpu.name[gpu]));
    const auto [row, added] =
        rows_.try_emplace({TextOf(pid), TextOf(tid), std::string(device), api, kernel});
    if (added) row->second = {pid, tid, NumberOrText(device), api, kernel, {}};
    return row->second;
  }

  std::map<std::vector<std::string>, LaunchRow> rows_;
};

}  // namespace

// Gives four times for each launch. Total: from the begin of the launch call to the end of the call
// or of its kernel, whichever is later. API: the launch call. Queue: between call and kernel;
// absent if the kernel starts before the call returns. Kernel: the kernel.
Table KernelExecutionSummary(std::span<const StatsTrace> traces, size_t /*most*/) {
  LaunchRows rows;
  for (const StatsTrace& trace : traces) rows.Add(trace);
  Table table{
      "cuda_kern_exec_sum",
      {StatsInteger("PID").GivesWay(1), StatsInteger("TID").GivesWay(1), StatsInteger("DevId"),
       StatsInteger("Count").Adds(), StatsInteger("QCount").Adds().GivesWay(2)},
      {}};
  for (const char* const part : {"T", "A", "Q", "K"}) {
    const std::string name(part);
    table.columns.push_back(StatsNumber(name + "Avg (ns)"));
    table.columns.push_back(StatsNumber(name + "Med (ns)").GivesWay(2));
    table.columns.push_back(StatsInteger(name + "Min (ns)").GivesWay(3));
    table.columns.push_back(StatsInteger(name + "Max (ns)").GivesWay(3));
    table.columns.push_back(StatsNumber(name + "StdDev (ns)").GivesWay(3));
  }
  table.columns.push_back(StatsText("API Name").GivesWay(1));
  table.columns.push_back(StatsName("Kernel Name"));
  for (auto& [key, row] : rows.rows()) {
    std::vector<Cell> cells{row.pid, row.tid, row.device, CountCell(row.times[kTotalPart].size()),
                            CountCell(row.times[kQueuePart].size())};
    for (std::vector<int64_t>& times : row.times) {
      if (times.empty())
        cells.resize(cells.size() + 5);
      else
        AppendFigures(FiguresOf(times), cells);
    }
    cells.emplace_back(row.api);
    cells.emplace_back(row.kernel);
    table.Add(std::move(cells));
  }
  constexpr size_t kTotalAvg = 5;
  std::ranges::stable_sort(table.rows, std::greater(), [](const TableRow& row) {
    return std::get<double>(row.cells[kTotalAvg]);
  });
  return table;
}

}  // namespace tacho
