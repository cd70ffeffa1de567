#include "report/kernel_names.h"
#include "report/result_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/rank_text.h"
#include "text/distinct_text.h"
#include "text/format_number.h"
#include "text/short_paths.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

// The function and then the file of "vllm/v1/engine/core.py(301): step", so that both ends of a
// shortened one tell something: "step core.py:301". Other names as they are.
std::string ShownFrame(const std::string& name) {
  const size_t line = name.find(".py("), end = name.find("): ");
  if (line == std::string::npos || end == std::string::npos || end < line) return name;
  const size_t file = name.rfind('/', line) + 1;  // 0 without a folder
  return fmt::format("{} {}:{}", name.substr(end + 3), name.substr(file, line + 3 - file),
                     name.substr(line + 4, end - line - 4));
}

}  // namespace

std::vector<std::string> KindNames(size_t mask) {
  std::vector<std::string> names;
  for (size_t bit = 0; bit < kWorkKinds; ++bit) {
    if ((mask >> bit & 1) != 0) names.emplace_back(WorkKindName(static_cast<WorkKind>(bit)));
  }
  return names;
}

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
  // What runs at the same time stands in two rows above.
  if (counted != totals.busy) add("counted twice (overlap)", totals.busy - counted, Cell());
  add("idle", totals.idle, Cell());
  table.never_folded = table.rows.size() - categories;
  return table;
}

Table IdleCausesTable(const IdleTable& idle, std::string title) {
  Table table{"idle",
              {Col{"cause", std::move(title), kText}.Stretches(),
               Col{"", "", kBar}.ScreenOnly().GivesWay(), Col{"total_ns", "", kDuration}.Adds(),
               Col{"share", "idle", kShare}.Adds(), Col{"gaps", "gaps", kCount}.FileOnly()},
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
      {Col{"dur_ns", std::move(title), kDuration}, Col{"at_ns", "at", kDuration}.UnitGroup(1),
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
    table.Add({gap.when.length().ns, (gap.when.start - origin).ns, gap.when.start.ns, gap.device,
               std::string(IdleCauseId(gap.cause)), gap.host,
               style.whole_names ? gap.host : ShownFrame(gap.host), gap.host_track, shown[2 * i],
               shown[2 * i + 1], gap.before, gap.after});
  }
  return table;
}

// Steps have times of their own on a device.
bool AnyOnDevice(const StepTable& steps) {
  return std::ranges::any_of(steps.steps,
                             [](const Step& step) { return step.device_busy.has_value(); });
}

Table StepsTable(const StepTable& steps, TimeNs origin, std::string title) {
  const bool on_device = AnyOnDevice(steps);
  Table table{
      "steps",
      {Col{"phase", std::move(title), kText}, Col{"at_ns", "at", kDuration}.UnitGroup(1),
       Col{"start_ns", "", kDuration}.FileOnly(),
       Col{"dur_ns", on_device ? "host" : "duration", kDuration},
       Col{"device_busy_ns", "device", kDuration}.FileOnly(!on_device),
       Col{"device_span_ns", "", kDuration}.FileOnly(), Col{"period_ns", "period", kDuration},
       Col{"context_requests", "ctx req", kCount}.GivesWay(),
       Col{"context_tokens", "ctx tok", kCount}, Col{"generation_requests", "gen req", kCount},
       Col{"generation_tokens", "gen tok", kCount}},
      {}};
  for (const Step& step : steps.steps) {
    const StepLabel& label = step.label;
    const auto cell = [](const std::optional<DurationNs>& time) {
      return time ? Cell(time->ns) : Cell();
    };
    table.Add({std::string(PhaseName(label.phase)) + (step.cut ? " (cut)" : ""),
               (step.when.start - origin).ns, step.when.start.ns, step.when.length().ns,
               cell(step.device_busy), cell(step.device_span),
               step.period ? Cell(step.period->ns) : Cell(), UnlessNegative(label.context_requests),
               UnlessNegative(label.context_tokens), UnlessNegative(label.generation_requests),
               UnlessNegative(label.generation_tokens)});
  }
  return table;
}

Throughput ThroughputOf(const StepTable& steps, Phase phase) {
  Throughput sum;
  for (const Step& step : steps.steps) {
    const int64_t context = step.label.context_tokens, generated = step.label.generation_tokens;
    if (step.label.phase != phase || !step.period || (context < 0 && generated < 0)) continue;
    sum.tokens = AddSaturated(
        sum.tokens, AddSaturated(std::max<int64_t>(context, 0), std::max<int64_t>(generated, 0)));
    sum.time += *step.period;
  }
  return sum;
}

Table StepPhasesTable(const StepTable& steps, std::string title) {
  const bool on_device = AnyOnDevice(steps);
  Table table{
      "step_phases",
      {Col{"phase", std::move(title), kText}, Col{"count", "n", kCount}.Adds(),
       Col{"total_ns", on_device ? "host" : "total", kDuration}.Adds().UnitGroup(1).GivesWay(),
       Col{"device_busy_ns", "device", kDuration}.FileOnly(!on_device).Adds().UnitGroup(1),
       Col{"p50_ns", on_device ? "host p50" : "median", kDuration},
       Col{"p90_ns", "p90", kDuration}.FileOnly(), Col{"p99_ns", "p99", kDuration}.GivesWay(),
       Col{"max_ns", "max", kDuration}.GivesWay(), Col{"period_p50_ns", "period", kDuration},
       Col{"context_tokens", "ctx tok", kCount}.Adds(),
       Col{"generation_tokens", "gen tok", kCount}.Adds(),
       Col{"tokens_per_second", "tok/s", kNumber},
       Col{"", "trend", kTrend}.ScreenOnly().GivesWay()},
      {}};
  for (const Phase phase :
       {Phase::kPrefill, Phase::kMixed, Phase::kDecode, Phase::kEmpty, Phase::kOther}) {
    std::vector<int64_t> durations, periods;
    std::vector<double> trend;
    int64_t context = -1, generated = -1, device = -1;
    const auto add = [](int64_t& sum, int64_t more) {
      if (more >= 0) sum = AddSaturated(std::max<int64_t>(sum, 0), more);
    };
    for (const Step& step : steps.steps) {
      if (step.label.phase != phase) continue;
      durations.push_back(step.when.length().ns);
      trend.push_back(static_cast<double>(step.when.length().ns));
      if (step.period) periods.push_back(step.period->ns);
      add(context, step.label.context_tokens);
      add(generated, step.label.generation_tokens);
      add(device, step.device_busy.value_or(DurationNs{-1}).ns);
    }
    if (durations.empty()) continue;
    const DurationStats stats = Summarize(durations);
    const Throughput throughput = ThroughputOf(steps, phase);
    table.Add(
        {std::string(PhaseName(phase)), CountCell(stats.count), stats.total.ns,
         UnlessNegative(device), stats.p50.ns, stats.p90.ns, stats.p99.ns, stats.max.ns,
         periods.empty() ? Cell() : Cell(Summarize(periods).p50.ns), UnlessNegative(context),
         UnlessNegative(generated),
         throughput.tokens > 0 && throughput.time.ns > 0 ? Cell(throughput.per_second()) : Cell(),
         trend.size() > 1 ? Cell(std::move(trend)) : Cell()});
  }
  return table;
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
       Col{"gaps", "gaps", kCount}.FileOnly(), Col{"gaps_over_1us", "", kCount}.FileOnly(),
       Col{"gaps_over_10us", "", kCount}.FileOnly(), Col{"gaps_over_100us", "", kCount}.FileOnly(),
       Col{"gaps_over_1ms", "", kCount}.FileOnly(),
       Col{"largest_gap_ns", "largest gap", kDuration}},
      {}};
  for (const DeviceTime& device : devices) {
    const GapCounts& gaps = device.gaps;
    table.Add({device.device, device.window.length().ns,
               ShareOf(device.busy, device.window.length()), device.busy.ns, device.compute.ns,
               device.exposed_comm.ns, device.exposed_copy.ns, device.idle.ns, device.kernel_sum.ns,
               device.kernel_busy.ns, device.comm_busy.ns, device.copy_busy.ns,
               CountCell(device.gpu_events), CountCell(gaps.count), CountCell(gaps.over_1us),
               CountCell(gaps.over_10us), CountCell(gaps.over_100us), CountCell(gaps.over_1ms),
               gaps.largest.ns});
  }
  return table;
}

Table OverlapsTable(const std::vector<DeviceTime>& devices, std::string title) {
  Table table{"overlaps",
              {Col{"device", "device", kText}, Col{"kinds", std::move(title), kText}.Stretches(),
               Col{"", "", kBar}.ScreenOnly().GivesWay(), Col{"total_ns", "", kDuration},
               Col{"share", "window", kShare}},
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
  Table table{
      "streams",
      {Col{"stream", std::move(title), kText}.Stretches(), Col{"device", "device", kText},
       Col{"events", "events", kCount}.Adds(), Col{"sum_ns", "sum", kDuration}.Adds(),
       Col{"busy_ns", "busy", kDuration}, Col{"share", "window", kShare},
       Col{"overlaps", "overlaps", kCount}.Adds(), Col{"", "mostly", kText}.ScreenOnly(),
       Col{"", "main category", kText}.ScreenOnly().GivesWay(),
       Col{"compute_ns", "", kDuration}.FileOnly(),
       Col{"communication_ns", "", kDuration}.FileOnly(), Col{"copy_ns", "", kDuration}.FileOnly(),
       Col{"memset_ns", "", kDuration}.FileOnly(), Col{"main_category", "", kText}.FileOnly(),
       Col{"main_category_ns", "", kDuration}.FileOnly()},
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
  trace.stretches = !with_sessions;  // the end of a session's name is what tells it apart
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
  for (size_t i = 0; i < ranks.rows.size(); ++i) {
    const RankRow& row = ranks.rows[i];
    Cell parts;
    if (row.window.ns > 0) {
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
               row.window.ns,
               ShareOf(row.busy, row.window),
               row.busy.ns,
               row.compute.ns,
               row.exposed_comm.ns,
               row.exposed_copy.ns,
               row.comm_busy.ns,
               row.idle.ns,
               row.kernel_sum.ns,
               CountCell(row.steps),
               CellOf(row.start_unix_ns),
               std::move(parts),
               text(identity.worker),
               CellOf(identity.data_parallel),
               CellOf(identity.pipeline),
               CellOf(identity.tensor),
               text(identity.stage)},
              ranks.slowest == i ? Paint::kRed : Paint::kPlain);
  }
  return table;
}

}  // namespace tacho
