#include <algorithm>
#include <iterator>
#include <utility>

#include "report/tables/result_tables.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

// Whether the time on a device is known for any step.
bool AnyOnDevice(const StepTable& steps) {
  return std::ranges::any_of(steps.steps,
                             [](const Step& step) { return step.device_busy.has_value(); });
}

}  // namespace

Table StepsTable(const StepTable& steps, TimeNs origin, std::string title) {
  const bool on_device = AnyOnDevice(steps);
  Table table{
      "steps",
      {Col{"phase", std::move(title), kText}, Col{"number", "#", kCount}.ScreenOnly(),
       Col{"at_ns", "at", kDuration}.Means(kSinceSpan).UnitGroup(1),
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
               CountCell(table.rows.size() + 1), (step.when.start - origin).ns, step.when.start.ns,
               step.when.length().ns, cell(step.device_busy), cell(step.device_span),
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
    // It verifies proposed tokens: how many it made is unknown.
    if (step.label.generation_requests > 0 && generated != step.label.generation_requests)
      return {};
    sum.tokens = AddSaturated(
        sum.tokens, AddSaturated(std::max<int64_t>(context, 0), std::max<int64_t>(generated, 0)));
    sum.time += *step.period;
  }
  return sum;
}

namespace {

std::vector<TableColumn> StepPhaseColumns(const StepTable& steps, std::string title) {
  const bool on_device = AnyOnDevice(steps);
  const bool any_lost = std::ranges::any_of(steps.steps, &Step::lost_work);
  return {Col{"phase", std::move(title), kText},
          Col{"count", "n", kCount}.Means("number of steps").Adds(),
          Col{"total_ns", on_device ? "host" : "total", kDuration}
              .Means("sum of durations on the host")
              .Adds()
              .UnitGroup(1)
              .GivesWay(),
          Col{"device_busy_ns", "", kDuration}
              .Means("sum of `device_busy_ns` of the steps; empty if some lost work")
              .FileOnly()
              .Adds(),
          Col{"", any_lost ? "device ≥" : "device", kDuration}.ScreenOnly().Adds().UnitGroup(1),
          Col{"p50_ns", on_device ? "host p50" : "median", kDuration}.Means(
              "median duration on the host"),
          Col{"p90_ns", "p90", kDuration}.Means("90th percentile").FileOnly(),
          Col{"p99_ns", "p99", kDuration}.Means("99th percentile").GivesWay(2),
          Col{"max_ns", "max", kDuration}.Means("longest duration on the host").GivesWay(),
          Col{"period_p50_ns", "period", kDuration}.Means("median time from start to next start"),
          Col{"context_tokens", "ctx tok", kCount}.Means("sum of tokens in prefill").Adds(),
          Col{"generation_tokens", "gen tok", kCount}.Means("sum of tokens in decode").Adds(),
          Col{"tokens_per_second", "tok/s", kNumber}.Means(
              "tokens taken in and generated, of the steps that have a period, by the sum of the "
              "periods"),
          Col{"", "trend", kTrend}.ScreenOnly().GivesWay(3)};
}

}  // namespace

Table StepPhasesTable(const StepTable& steps, std::string title) {
  Table table{"step_phases", StepPhaseColumns(steps, std::move(title)), {}};
  for (const Phase phase :
       {Phase::kPrefill, Phase::kMixed, Phase::kDecode, Phase::kEmpty, Phase::kOther}) {
    std::vector<int64_t> durations, periods;
    std::vector<double> trend;
    int64_t context = -1, generated = -1, device = -1;
    bool all_known = true;  // false: some steps lost work, so the sum is a lower bound
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
      all_known = all_known && !step.lost_work;
    }
    if (durations.empty()) continue;
    const DurationStats stats = Summarize(durations);
    const Throughput throughput = ThroughputOf(steps, phase);
    table.Add(
        {std::string(PhaseName(phase)), CountCell(stats.count), stats.total.ns,
         all_known ? UnlessNegative(device) : Cell(), UnlessNegative(device), stats.p50.ns,
         stats.p90.ns, stats.p99.ns, stats.max.ns,
         periods.empty() ? Cell() : Cell(Summarize(periods).p50.ns), UnlessNegative(context),
         UnlessNegative(generated),
         throughput.tokens > 0 && throughput.time.ns > 0 ? Cell(throughput.per_second()) : Cell(),
         trend.size() > 1 ? Cell(std::move(trend)) : Cell()});
  }
  return table;
}

Table WithoutNumbers(Table table) {
  const auto number = std::ranges::find(table.columns, "number", &TableColumn::key);
  number->on_screen = false;
  // In a table of gaps the number is the first column, and the name of the first column is the
  // table's title. The next column takes over this title.
  if (number == table.columns.begin()) std::next(number)->name = number->name;
  return table;
}

}  // namespace tacho
