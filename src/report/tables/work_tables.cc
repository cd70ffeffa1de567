#include "report/tables/result_tables.h"
#include "report/words/kernel_names.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/distinct_text.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;
}  // namespace

size_t RowsWorthShowing(const std::vector<DurationNs>& descending, DurationNs total, size_t least,
                        size_t most) {
  size_t rows = 0;
  while (rows < descending.size() && rows < most &&
         (rows < least || descending[rows].ns >= total.ns / 100)) {
    ++rows;
  }
  return rows;
}

Table KernelsTable(const KernelTable& kernels, const DeviceTotals& totals, const TextStyle& style,
                   std::string title) {
  const bool with_device = totals.devices > 1;
  Table table{
      "kernels",
      {Col{"name"}.FileOnly(), Col{"short_name"}.FileOnly(),
       Col{"", std::move(title), kText}.ScreenOnly().Stretches().Distinct(),
       Col{"category", "category", kText}.Stretches().GivesWay(),
       Col{"device", "device", kText}.FileOnly(!with_device),
       Col{"total_ns", "total", kDuration}.Adds().UnitGroup(1),
       Col{"share", std::string(WorkWord(totals)), kShare}
           .Means("share of the total of all kernels")
           .Adds(),
       Col{"count", "count", kCount}.Adds(), Col{"min_ns", "min", kDuration}.FileOnly(),
       Col{"mean_ns", "mean", kDuration}.Means("mean duration, rounded down").FileOnly(),
       Col{"p50_ns", "median", kDuration}.GivesWay(), Col{"p90_ns", "p90", kDuration}.FileOnly(),
       Col{"p99_ns", "p99", kDuration}.GivesWay(), Col{"max_ns", "max", kDuration}.FileOnly()},
      {}};
  std::vector<std::string_view> in_file;
  for (const KernelRow& row : kernels.rows) in_file.push_back(row.name);
  const std::vector<std::string> names = ShownKernelNames(in_file, style);
  const std::vector<std::string> short_names =
      FitDistinct({in_file.begin(), in_file.end()}, names, kShortName, true);
  for (const KernelRow& row : kernels.rows) {
    const DurationStats& stats = row.stats;
    // A row without a device is a sum over several ranks, which has no percentiles.
    const auto percentile = [&](DurationNs value) {
      return row.device.empty() ? Cell() : Cell(value.ns);
    };
    const size_t i = table.rows.size();
    table.Add({row.name, short_names[i], names[i], row.category,
               row.device.empty() ? Cell() : Cell(row.device), stats.total.ns,
               ShareOf(stats.total, kernels.total), CountCell(stats.count), stats.min.ns,
               stats.mean().ns, percentile(stats.p50), percentile(stats.p90), percentile(stats.p99),
               stats.max.ns});
  }
  return table;
}

Table CategoriesTable(const KernelTable& kernels, std::string title) {
  Table table{
      "categories",
      {Col{"category", std::move(title), kText}.Stretches(),
       Col{"", "", kBar}.ScreenOnly().GivesWay(), Col{"total_ns", "total", kDuration}.Adds(),
       Col{"share", "of kernel time", kShare}.Means("share of the total of all kernels").Adds(),
       Col{"count", "kernels", kCount}.Adds()},
      {}};
  for (const CategoryRow& row : kernels.categories) {
    const double share = ShareOf(row.total, kernels.total);
    table.Add({row.category, share, row.total.ns, share, CountCell(row.count)});
  }
  return table;
}

void SayDeviceIsLeast(Table& table) {
  std::ranges::find(table.columns, "device_outermost_ns", &TableColumn::key)->name = "device ≥";
}

namespace {

std::vector<TableColumn> OpColumns(const std::vector<OpRow>& ops, bool with_device_time,
                                   bool with_shapes, std::string title, bool whole) {
  const bool device_memory = std::ranges::any_of(
      ops, [](const OpRow& row) { return row.memory && row.memory->device_total != 0; });
  std::vector<TableColumn> columns = {
      Col{"name", std::move(title), kText}.Stretches().Distinct(),
      Col{"cpu_self_ns", "self", kDuration}.Adds(),
      Col{"share", "self", kShare}.ScreenOnly().Adds().GivesWay(),
      Col{"cpu_total_ns", "", kDuration}.FileOnly(),
      Col{"cpu_outermost_ns", "total", kDuration},
      Col{"device_self_ns", "device self", kDuration}.FileOnly().Adds(),
      Col{"device_total_ns", "", kDuration}.FileOnly(),
      Col{"device_outermost_ns", "device", kDuration}.FileOnly(!with_device_time),
      Col{"count", "count", kCount}.Adds(),
      Col{"cpu_self_mean_ns", "self/call", kDuration}
          .Means("`cpu_self_ns` of a call, rounded down")
          .FileOnly(!whole)
          .UnitGroup(1)
          .GivesWay(),
      Col{"cpu_total_mean_ns", "total/call", kDuration}
          .Means("`cpu_total_ns` of a call, rounded down")
          .FileOnly(!whole)
          .UnitGroup(1)
          .GivesWay(),
      Col{"", "GFLOP", kNumber}.ScreenOnly().FileOnly(!whole).Adds().GivesWay(),
      Col{"flops", "", kCount}.FileOnly().Adds(),
      Col{"cpu_memory_self_bytes", "CPU mem self", kBytes}.FileOnly(!whole).Adds().GivesWay(),
      Col{"cpu_memory_total_bytes", "CPU mem", kBytes}.FileOnly(!whole).GivesWay(),
      Col{"device_memory_self_bytes", "device mem self", kBytes}
          .FileOnly(!whole || !device_memory)
          .Adds()
          .GivesWay(),
      Col{"device_memory_total_bytes", "device mem", kBytes}
          .FileOnly(!whole || !device_memory)
          .GivesWay()};
  if (with_shapes) columns.insert(columns.begin() + 1, Col{"shapes", "shapes", kText}.Stretches());
  return columns;
}

}  // namespace

Table OpsTable(const std::vector<OpRow>& ops, bool with_device_time, bool with_shapes,
               std::string title, bool whole) {
  Table table{with_shapes ? "ops_by_shape" : "ops",
              OpColumns(ops, with_device_time, with_shapes, std::move(title), whole),
              {}};
  DurationNs self;
  for (const OpRow& row : ops) self += row.cpu_self;
  for (const OpRow& row : ops) {
    const auto mean = [&](DurationNs sum) {
      return row.count == 0 ? Cell() : Cell(sum.ns / static_cast<int64_t>(row.count));
    };
    std::vector<Cell> cells = {row.name,
                               row.cpu_self.ns,
                               ShareOf(row.cpu_self, self),
                               row.cpu_total.ns,
                               row.cpu_outermost.ns,
                               row.device_self.ns,
                               row.device_total.ns,
                               row.device_outermost.ns,
                               CountCell(row.count),
                               mean(row.cpu_self),
                               mean(row.cpu_total),
                               row.flops ? Cell(static_cast<double>(*row.flops) / 1e9) : Cell(),
                               CellOf(row.flops)};
    const auto memory = [&](int64_t MemoryUse::*part) {
      cells.push_back(row.memory ? Cell((*row.memory).*part) : Cell());
    };
    memory(&MemoryUse::cpu_self);
    memory(&MemoryUse::cpu_total);
    memory(&MemoryUse::device_self);
    memory(&MemoryUse::device_total);
    if (with_shapes) cells.insert(cells.begin() + 1, Cell(row.shapes));
    table.Add(std::move(cells));
  }
  return table;
}

Table CopiesTable(const CopyTable& copies, std::string title) {
  Table table{"copies",
              {Col{"kind", std::move(title), kText}
                   .Means("direction, as in `traces[].copies[]` of json.md; or `memset`")
                   .Stretches(),
               Col{"total_ns", "total", kDuration}.Adds(), Col{"count", "count", kCount}.Adds(),
               Col{"bytes", "bytes", kBytes}.Adds(), Col{"gigabytes_per_second", "GB/s", kNumber},
               Col{"pageable", "pageable", kCount}.Adds()},
              {}};
  for (const CopyRow& row : copies.copies) {
    const std::optional<double> rate = row.gigabytes_per_second();
    table.Add({row.kind, row.total.ns, CountCell(row.count), CellOf(row.bytes),
               rate ? Cell(*rate) : Cell(), CountCell(row.pageable)});
  }
  if (copies.memsets.count > 0) {
    table.Add({"memset", copies.memsets.total.ns, CountCell(copies.memsets.count),
               CellOf(copies.memsets.bytes), Cell(), Cell()});
  }
  return table;
}

Table ApisTable(const std::vector<ApiRow>& apis, std::string title) {
  // A call that waits takes a thousand times as long as other calls, so p99 and max each have a
  // unit of their own.
  Table table{
      "apis",
      {Col{"name", std::move(title), kText}.Stretches().Distinct(),
       Col{"total_ns", "total", kDuration}.Adds().UnitGroup(1),
       Col{"count", "count", kCount}.Adds(), Col{"min_ns", "min", kDuration}.FileOnly(),
       Col{"p50_ns", "median", kDuration}, Col{"p90_ns", "p90", kDuration}.FileOnly(),
       Col{"p99_ns", "p99", kDuration}.UnitGroup(2), Col{"max_ns", "max", kDuration}.UnitGroup(3)},
      {}};
  for (const ApiRow& row : apis) {
    const DurationStats& stats = row.stats;
    table.Add({row.name, stats.total.ns, CountCell(stats.count), stats.min.ns, stats.p50.ns,
               stats.p90.ns, stats.p99.ns, stats.max.ns});
  }
  return table;
}

Table QueuesTable(const LaunchTable& launches, std::string title) {
  Table table{"queues",
              {Col{"stream", std::move(title), kText}.Stretches(), Col{"device", "device", kText},
               Col{"mean", "mean depth", kNumber}, Col{"max", "max depth", kCount}},
              {}};
  for (const LaunchTable::QueueDepth& queue : launches.queues) {
    table.Add({queue.stream, queue.device, queue.mean, CountCell(queue.max)});
  }
  return table;
}

Table LaunchFiguresTable(const LaunchTable& launches, std::string title) {
  Table table{
      "launches",
      {Col{"figure"}
           .Means("name of the figure, as in `traces[].launches` of json.md, `delay_` before those "
                  "of `delay`; those about overhead only where the trace has any")
           .FileOnly(),
       Col{"value", "", kCount}.Means("value of the figure").FileOnly(),
       Col{"", std::move(title)}.ScreenOnly().Stretches(), Col{"", "", kCount}.ScreenOnly(),
       Col{"", "", kDuration}.ScreenOnly()},
      {}};
  const auto add = [&](const char* key, const char* words, uint64_t value) {
    table.Add({key, CountCell(value), words, CountCell(value), Cell()});
  };
  const auto add_time = [&](const char* key, const char* words, DurationNs value) {
    table.Add({key, value.ns, words, Cell(), value.ns});
  };
  add("gpu_events", "GPU work with a known launch", launches.gpu_events);
  add("with_launch", "  linked to a launch", launches.with_launch);
  add("without_launch", "  without a launch in the recording", launches.without_launch);
  add("without_correlation", "pieces that do not tell it", launches.without_correlation);
  add("graph_launches", "graph launches", launches.graphs.size());
  add("graph_gpu_events", "  GPU work under them", launches.graph_gpu_events);
  add("max_gpu_events_per_launch", "most GPU work under one launch",
      launches.max_gpu_events_per_launch);
  add("shorter_than_launch", "kernels shorter than their own launch call",
      launches.shorter_than_launch);
  add("delay_count", "delays from launch call to start", launches.delay.count);
  if (launches.delay.count > 0) {
    add_time("delay_p50_ns", "  median", launches.delay.p50);
    add_time("delay_p90_ns", "  p90", launches.delay.p90);
    add_time("delay_p99_ns", "  p99", launches.delay.p99);
    add_time("delay_max_ns", "  longest", launches.delay.max);
  }
  if (launches.overhead) {
    add("launch_calls", "calls that launch, copy or set", launches.overhead->calls);
    add("profiler_calls", "  with overhead of the profiler in them", launches.overhead->held_up);
    add_time("launch_calls_ns", "  time in all of them", launches.overhead->call_time);
    add_time("profiler_ns", "  of that, overhead of the profiler", launches.overhead->total);
  }
  return table;
}

Table GraphsTable(const std::vector<GraphLaunch>& graphs, TimeNs origin, std::string title) {
  Table table{
      "graphs",
      {Col{"at_ns", std::move(title), kDuration}.Means(kSinceSpan).UnitGroup(1),
       Col{"start_ns", "", kDuration}.FileOnly(), Col{"dur_ns", "call", kDuration},
       Col{"gpu_events", "GPU work", kCount},
       Col{"work_after_ns", "starts after", kDuration}.Means(
           "time from the start of the call to the first start of its work"),
       Col{"work_start_ns", "", kDuration}.FileOnly(), Col{"work_ns", "its span", kDuration}},
      {}};
  for (const GraphLaunch& graph : graphs) {
    const bool works = !graph.work.empty();
    table.Add({(graph.call.start - origin).ns, graph.call.start.ns, graph.call.length().ns,
               CountCell(graph.gpu_events),
               works ? Cell((graph.work.start - graph.call.start).ns) : Cell(),
               works ? Cell(graph.work.start.ns) : Cell(),
               works ? Cell(graph.work.length().ns) : Cell()});
  }
  return table;
}

Table NotesTable(const Notes& notes, std::string title) {
  Table table{
      "notes",
      {Col{"id", std::move(title), kText}, Col{"severity", "severity", kText},
       Col{"count", "count", kCount}, Col{"where", "where", kText}.Stretches(),
       Col{"text", "meaning", kText}.Stretches(), Col{"remedy", "remedy", kText}.FileOnly()},
      {}};
  for (const Note& note : notes.list()) {
    const NoteKind& kind = KindOf(note.id);
    table.Add(
        {std::string(kind.id), std::string(SeverityName(kind.severity)), CountCell(note.count),
         note.where, std::string(kind.text), std::string(RemedyOf(note.id, notes))},
        kind.severity == Severity::kInfo ? Paint::kPlain : Paint::kYellow);
  }
  return table;
}

}  // namespace tacho
