#include "report/tables/result_tables.h"
#include "report/words/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/words/rank_text.h"
#include "text/distinct_text.h"
#include "text/format_number.h"
#include "text/short_paths.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

// Shows "vllm/v1/engine/core.py(301): step" as "step core.py:301": function first, then file, so
// that both ends of a shortened name are useful. Returns other names unchanged.
std::string ShownFrame(const std::string& name) {
  const size_t line = name.find(".py("), end = name.find("): ");
  if (line == std::string::npos || end == std::string::npos || end < line) return name;
  const size_t file = name.rfind('/', line) + 1;  // 0 without a folder
  return fmt::format("{} {}:{}", name.substr(end + 3), name.substr(file, line + 3 - file),
                     name.substr(line + 4, end - line - 4));
}

}  // namespace

Table WindowTable(const DeviceTotals& totals, std::string title) {
  Table table{
      "window",
      {Col{"part", std::move(title), kText}.Stretches(), Col{"", "", kBar}.ScreenOnly().GivesWay(),
       Col{"total_ns", "", kDuration}.Adds(), Col{"share", "window", kShare}.Adds(),
       Col{"count", "count", kCount}.FileOnly().Adds()},
      {}};
  const auto add = [&](const std::string& part, DurationNs total, Cell count) {
    const double share = ShareOf(total, totals.window);
    table.Add({part, std::max(share, 0.0), total.ns, share, std::move(count)});
  };
  DurationNs counted = totals.copies.total + totals.memsets.total;
  for (const CategoryRow& row : totals.kernels) {
    add(row.category, row.total, CountCell(row.count));
    counted += row.total;
  }
  const size_t categories = table.rows.size();
  for (const CategoryRow* row : {&totals.copies, &totals.memsets}) {
    if (row->count > 0 || row->total.ns > 0) add(row->category, row->total, CountCell(row->count));
  }
  // Work that ran at the same time was counted in two of the rows above.
  if (counted != totals.busy) add("counted twice (overlap)", totals.busy - counted, Cell());
  totals.whole ? add("idle", totals.idle, Cell())
               : add(kIdleOrUnrecorded, totals.window - totals.busy, Cell());
  table.never_folded = table.rows.size() - categories;
  return table;
}

Table IdleCausesTable(const IdleTable& idle, std::string title) {
  Table table{"idle",
              {Col{"cause", std::move(title), kText}
                   .Means("cause, as `id` in `traces[].idle.causes[]` of json.md")
                   .Stretches(),
               Col{"", "", kBar}.ScreenOnly().GivesWay(),
               Col{"total_ns", "", kDuration}.Means("idle time with this cause").Adds(),
               Col{"share", "idle", kShare}.Means("share of the idle time").Adds(),
               Col{"gaps", "gaps", kCount}.Means("gaps that contain some of this time").FileOnly()},
              {}};
  table.columns[1].bar_width = 8;
  const DurationNs total = idle.window - idle.busy;
  for (const IdleCauseRow& row : idle.causes) {
    const double share = ShareOf(row.total, total);
    table.Add(
        {std::string(IdleCauseId(row.cause)), share, row.total.ns, share, CountCell(row.count)});
  }
  return table;
}

Table GapsTable(const IdleTable& idle, TimeNs origin, bool with_device, const TextStyle& style,
                std::string title) {
  constexpr size_t kNarrowestKernel = 20;
  Table table{
      "gaps",
      {Col{"number", std::move(title), kCount}.ScreenOnly(), Col{"dur_ns", "", kDuration},
       Col{"at_ns", "at", kDuration}.Means(kSinceSpan).UnitGroup(1),
       Col{"start_ns", "", kDuration}.FileOnly(),
       Col{"device", "device", kText}.FileOnly(!with_device), Col{"cause", "cause", kText},
       Col{"host"}.FileOnly(), Col{"", "host did", kText}.ScreenOnly().Stretches(),
       Col{"host_track", "", kText}.FileOnly(),
       Col{"", "before", kText}.ScreenOnly().Stretches().GivesWay().Distinct(kNarrowestKernel),
       Col{"", "after", kText}.ScreenOnly().Stretches().GivesWay().Distinct(kNarrowestKernel),
       Col{"before"}.FileOnly(), Col{"after"}.FileOnly()},
      {}};
  std::vector<std::string_view> names;
  for (const IdleGap& gap : idle.gaps) names.insert(names.end(), {gap.before, gap.after});
  const std::vector<std::string> shown = ShownKernelNames(names, style);
  for (size_t i = 0; i < idle.gaps.size(); ++i) {
    const IdleGap& gap = idle.gaps[i];
    table.Add({CountCell(i + 1), gap.when.length().ns, (gap.when.start - origin).ns,
               gap.when.start.ns, gap.device, std::string(IdleCauseId(gap.cause)), gap.host,
               style.whole_names ? gap.host : ShownFrame(gap.host), gap.host_track, shown[2 * i],
               shown[2 * i + 1], gap.before, gap.after});
  }
  return table;
}

void SayBusyIsLeast(Table& table) {
  std::ranges::find(table.columns, "busy", &TableColumn::key)->name = "busy, at least";
}

Table DevicesTable(const std::vector<DeviceTime>& devices, std::string title) {
  Table table{
      "devices",
      {Col{"device", std::move(title), kText}.Stretches(), Col{"window_ns", "window", kDuration},
       Col{"busy", "busy", kShare}.ScreenOnly(), Col{"busy_ns", "busy", kDuration}.FileOnly(),
       Col{"compute_ns", "compute", kDuration}, Col{"exposed_comm_ns", "exp. comm", kDuration},
       Col{"exposed_copy_ns", "exp. copy", kDuration}.FileOnly(), Col{"idle_ns", "idle", kDuration},
       Col{"kernel_sum_ns", "kernel sum", kDuration}.FileOnly(),
       Col{"kernel_busy_ns", "kernel busy", kDuration}.FileOnly(),
       Col{"comm_busy_ns", "comm busy", kDuration}.FileOnly(),
       Col{"copy_busy_ns", "copy busy", kDuration}.FileOnly(), Col{"gpu_events", "events", kCount},
       Col{"gaps", "gaps", kCount}.Means("stretches inside the window without any work").FileOnly(),
       Col{"gaps_over_1us", "", kCount}.Means("stretches longer than 1 us").FileOnly(),
       Col{"gaps_over_10us", "", kCount}.Means("stretches longer than 10 us").FileOnly(),
       Col{"gaps_over_100us", "", kCount}.Means("stretches longer than 100 us").FileOnly(),
       Col{"gaps_over_1ms", "", kCount}.Means("stretches longer than 1 ms").FileOnly(),
       Col{"largest_gap_ns", "largest gap", kDuration}.Means("length of the longest")},
      {}};
  if (!std::ranges::all_of(devices, &DeviceTime::whole)) SayBusyIsLeast(table);
  for (const DeviceTime& device : devices) {
    const GapCounts& gaps = device.gaps;
    const auto unless_lost = [&](Cell cell) { return device.whole ? std::move(cell) : Cell(); };
    table.Add({device.device, device.window.length().ns,
               ShareOf(device.busy, device.window.length()), device.busy.ns, device.compute.ns,
               unless_lost(device.exposed_comm.ns), unless_lost(device.exposed_copy.ns),
               unless_lost(device.idle.ns), device.kernel_sum.ns, device.kernel_busy.ns,
               device.comm_busy.ns, device.copy_busy.ns, CountCell(device.gpu_events),
               unless_lost(CountCell(gaps.count)), unless_lost(CountCell(gaps.over_1us)),
               unless_lost(CountCell(gaps.over_10us)), unless_lost(CountCell(gaps.over_100us)),
               unless_lost(CountCell(gaps.over_1ms)), unless_lost(gaps.largest.ns)});
  }
  return table;
}

Table OverlapsTable(const std::vector<DeviceTime>& devices, std::string title) {
  Table table{"overlaps",
              {Col{"device", "device", kText}.Means("id of the device, as in `devices.csv`"),
               Col{"kinds", std::move(title), kText}
                   .Means("kinds of work that ran concurrently, joined by `+`; `idle` if none did")
                   .Stretches(),
               Col{"", "", kBar}.ScreenOnly().GivesWay(),
               Col{"total_ns", "", kDuration}.Means("time for which they did"),
               Col{"share", "window", kShare}.Means("share of the device's window")},
              {}};
  for (const DeviceTime& device : devices) {
    for (size_t mask = 0; mask < device.by_kinds.size(); ++mask) {
      const DurationNs time = device.by_kinds[mask];
      if (time.ns == 0) continue;
      const double share = ShareOf(time, device.window.length());
      table.Add({device.device,
                 mask == 0 ? "idle" : fmt::format("{}", fmt::join(KindNames(mask), "+")), share,
                 time.ns, share});
    }
  }
  return table;
}

Table StreamsTable(const std::vector<DeviceTime>& devices, std::string title) {
  Table table{"streams",
              {Col{"stream", std::move(title), kText}.Stretches(),
               Col{"device", "device", kText}.Means("id of its device, as in `devices.csv`"),
               Col{"events", "events", kCount}.Adds(), Col{"sum_ns", "sum", kDuration}.Adds(),
               Col{"busy_ns", "busy", kDuration},
               Col{"share", "window", kShare}.Means("`busy_ns` over the window of the device"),
               Col{"overlaps", "overlaps", kCount}.Adds(), Col{"", "mostly", kText}.ScreenOnly(),
               Col{"", "main category", kText}.ScreenOnly().GivesWay(),
               Col{"compute_ns", "", kDuration}.FileOnly(),
               Col{"communication_ns", "", kDuration}.FileOnly(),
               Col{"copy_ns", "", kDuration}.FileOnly(), Col{"memset_ns", "", kDuration}.FileOnly(),
               Col{"main_category", "", kText}.Means("category with most time").FileOnly(),
               Col{"main_category_ns", "", kDuration}
                   .Means("sum of durations of that category")
                   .FileOnly()},
              {}};
  for (const DeviceTime& device : devices) {
    for (const StreamTime& stream : device.streams) {
      const auto share = [&](std::string_view what, DurationNs part) {
        return fmt::format("{} {}", what, FormatShare(part, stream.sum));
      };
      const auto most = std::ranges::max_element(stream.by_kind);
      const auto kind = static_cast<WorkKind>(most - stream.by_kind.begin());
      const CategoryRow main =
          stream.categories.empty() ? CategoryRow{} : stream.categories.front();
      const bool works = stream.sum.ns > 0;
      table.Add({stream.stream, device.device, CountCell(stream.events), stream.sum.ns,
                 stream.busy.ns, ShareOf(stream.busy, device.window.length()),
                 CountCell(stream.overlaps), works ? share(WorkKindName(kind), *most) : "",
                 works ? share(main.category, main.total) : "", stream.by_kind[0].ns,
                 stream.by_kind[1].ns, stream.by_kind[2].ns, stream.by_kind[3].ns, main.category,
                 main.total.ns});
    }
  }
  return table;
}

namespace {

std::vector<TableColumn> RankColumns(std::string title, bool with_sessions) {
  TableColumn trace = Col{"", with_sessions ? "session" : "trace"}.ScreenOnly();
  trace.stretches = !with_sessions;  // session keys differ at their ends, so they are not cut
  return {Col{"rank"}.FileOnly(),
          Col{"path"}.FileOnly(),
          Col{"name", std::move(title), kText},
          std::move(trace),
          Col{"window_ns", "window", kDuration}.GivesWay(),
          Col{"busy", "busy", kShare}.ScreenOnly(),
          Col{"busy_ns", "busy", kDuration}.FileOnly(),
          Col{"compute_ns", "compute", kDuration},
          Col{"exposed_comm_ns", "exp. comm", kDuration},
          Col{"exposed_copy_ns", "exp. copy", kDuration}.FileOnly(),
          Col{"comm_busy_ns", "comm busy", kDuration}.FileOnly(),
          Col{"idle_ns", "idle", kDuration},
          Col{"kernel_sum_ns", "kernel sum", kDuration}.FileOnly(),
          Col{"steps", "steps", kCount}.GivesWay(),
          Col{"start_unix_ns", "start", kDuration}.FileOnly(),
          Col{"", "window", kStacked}.ScreenOnly().GivesWay(),
          Col{"worker"}.FileOnly(),
          Col{"data_parallel"}.FileOnly(),
          Col{"pipeline"}.FileOnly(),
          Col{"tensor"}.FileOnly(),
          Col{"stage"}.FileOnly()};
}

}  // namespace

Table RanksTable(const RankTable& ranks, const TextStyle& style, std::string title) {
  const std::vector<std::string> sessions = SessionsOfRanks(ranks);
  Table table{"ranks", RankColumns(std::move(title), !sessions.empty()), {}};
  std::vector<std::string> paths;
  for (const RankRow& row : ranks.rows) paths.push_back(row.path);
  if (!style.whole_names) paths = sessions.empty() ? ShortPaths(paths) : sessions;
  const bool with_paths = style.whole_names || !NamesTellApart(ranks);
  if (!std::ranges::all_of(ranks.rows, &RankRow::whole)) SayBusyIsLeast(table);
  const std::vector<Straggler> stragglers = FindStragglers(ranks);
  for (size_t i = 0; i < ranks.rows.size(); ++i) {
    const RankRow& row = ranks.rows[i];
    Cell parts;
    const bool has_work = row.window.ns > 0;
    const auto if_any = [&](Cell cell) { return has_work ? std::move(cell) : Cell(); };
    const auto unless_lost = [&](Cell cell) {
      return if_any(row.whole ? std::move(cell) : Cell());
    };
    if (has_work && row.whole) {
      parts = std::vector<double>{
          ShareOf(row.compute, row.window), ShareOf(row.exposed_comm, row.window),
          ShareOf(row.exposed_copy, row.window), ShareOf(row.idle, row.window)};
    }
    const RankIdentity& identity = row.identity;
    const auto text = [](const std::string& part) { return part.empty() ? Cell() : Cell(part); };
    table.Add({CellOf(row.rank),
               row.path,
               text(identity.Name()),
               with_paths ? Cell(paths[i]) : Cell(),
               if_any(row.window.ns),
               if_any(ShareOf(row.busy, row.window)),
               if_any(row.busy.ns),
               if_any(row.compute.ns),
               unless_lost(row.exposed_comm.ns),
               unless_lost(row.exposed_copy.ns),
               if_any(row.comm_busy.ns),
               unless_lost(row.idle.ns),
               if_any(row.kernel_sum.ns),
               CountCell(row.steps),
               CellOf(row.start_unix_ns),
               std::move(parts),
               text(identity.worker),
               CellOf(identity.data_parallel),
               CellOf(identity.pipeline),
               CellOf(identity.tensor),
               text(identity.stage)},
              std::ranges::find(stragglers, i, &Straggler::row) != stragglers.end()
                  ? Paint::kRed
                  : Paint::kPlain);
  }
  return table;
}

}  // namespace tacho
