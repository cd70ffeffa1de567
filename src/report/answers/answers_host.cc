#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/answers/answer_parts.h"
#include "report/words/graph_words.h"
#include "report/words/idle_words.h"
#include "text/format_number.h"

namespace tacho {
namespace {

struct Launched {
  uint64_t work = 0, linked = 0, under_graphs = 0, graphs = 0, graphs_with_work = 0;
};

Launched CountLaunches(const AnswerInput& in) {
  Launched sum;
  for (const TraceAnalysis* trace : in.ranks) {
    sum.work += trace->launches.gpu_events + trace->launches.without_correlation;
    sum.linked += trace->launches.with_launch;
    sum.under_graphs += trace->launches.graph_gpu_events;
    sum.graphs += trace->launches.graphs.size();
    sum.graphs_with_work += static_cast<uint64_t>(std::ranges::count_if(
        trace->launches.graphs, [](const GraphLaunch& graph) { return graph.gpu_events > 0; }));
  }
  return sum;
}

// Says how much of what the graphs computed was padding, if that is known and above 5 %.
std::string PaddingClause(const AnswerInput& in) {
  int64_t padding = 0, batch = 0;
  for (const TraceAnalysis* trace : in.ranks) {
    padding += trace->graphs.padding_tokens;
    batch += trace->graphs.batch_tokens;
  }
  return 20 * padding > batch ? "; " + PaddingText(padding, batch) : "";
}

// Whether a graph launch begins within the step's annotation.
bool HasGraph(const AnswerInput& in, const PlacedStep& placed) {
  const std::vector<GraphLaunch>& graphs = in.run.traces[placed.trace].launches.graphs;
  const auto first =
      std::ranges::lower_bound(graphs, placed.step->when.start, {},
                               [](const GraphLaunch& graph) { return graph.call.start; });
  return first != graphs.end() && first->call.start < placed.step->when.end;
}

// Whether a call may make the host wait for the device: synchronizing calls, and copies that are
// not asynchronous.
bool MayWait(std::string_view call) {
  const auto has = [&](std::string_view word) { return call.find(word) != std::string_view::npos; };
  return has("Synchronize") || (has("Memcpy") && !has("Async") && !has("Graph"));
}

}  // namespace

Answer AnswerGraphs(const AnswerInput& in) {
  if (in.totals.devices.on_host) return CannotTell("a CPU engine launches no graph");
  const Launched launched = CountLaunches(in);
  if (launched.work == 0) return CannotTell(NoDeviceTime(in));
  if (!in.totals.devices.whole) return CannotTell(kUnknownWork);
  if (launched.linked == 0) return CannotTell("no launch call of the GPU work is in the trace");
  Answer answer;
  answer.share = static_cast<double>(launched.under_graphs) / static_cast<double>(launched.work);
  answer.figure = FormatPercent(*answer.share) + " %";
  answer.of = FormatCounted(launched.work, "piece") + " of GPU work";
  if (launched.graphs == 0) {
    answer.sentence = "No graph was launched";
    return answer;
  }
  answer.sentence = FormatCounted(launched.graphs, "graph launch", "graph launches");
  if (launched.graphs_with_work < launched.graphs)
    answer.sentence += fmt::format(", {} with their work", FormatCount(launched.graphs_with_work));
  answer.sentence += PaddingClause(in);
  std::vector<PlacedStep> steps = MainSteps(in.steps);
  const auto has_none = [&](const PlacedStep& placed) { return !HasGraph(in, placed); };
  // If a step lost work, its graph launch may have been lost too, so the step says nothing.
  std::erase_if(
      steps, [&](const PlacedStep& placed) { return placed.step->lost_work && has_none(placed); });
  const auto without = static_cast<uint64_t>(std::ranges::count_if(steps, has_none));
  if (steps.empty()) return answer;
  answer.sentence = fmt::format("{}, {} of them with a graph launch; {}", StepsText(steps),
                                FormatCount(steps.size() - without), answer.sentence);
  if (without == 0 || without == steps.size()) return answer;
  const PlacedStep& first = *std::ranges::find_if(steps, has_none);
  answer.at = {first.trace, first.step->when};
  return answer;
}

Answer AnswerOrigin(const AnswerInput& in) {
  if (in.totals.devices.window.ns == 0) return CannotTell(NoDeviceTime(in));
  if (!in.totals.devices.whole) return CannotTell(kUnknownWork);
  if (in.totals.devices.on_host)
    return CannotTell("the work of a CPU engine is its operators; only Python stacks tell more");
  if (in.run.traces[0].scope.window)
    return CannotTell("operators at the edges of --window count whole");
  std::map<std::string_view, DurationNs> by_name;
  DurationNs known, all = in.totals.devices.copies.total + in.totals.devices.memsets.total;
  for (const CategoryRow& row : in.totals.devices.kernels) all += row.total;
  for (const TraceAnalysis* trace : TimedRanksOf(in.run)) {
    for (const OpRow& row : trace->ops.rows) {
      by_name[row.name] += row.device_self;
      known += row.device_self;
    }
  }
  if (known.ns == 0) return CannotTell("the traces link no GPU work to an operator");
  const auto most =
      std::ranges::max_element(by_name, {}, [](const auto& row) { return row.second; });
  const bool stacks = std::ranges::any_of(
      in.ranks, [](const TraceAnalysis* trace) { return trace->facts.python_stacks; });
  Answer answer;
  answer.share = ShareOf(known, all);
  answer.figure = FormatShare(known, all);
  answer.figure += " launched by known operators";
  answer.of = fmt::format("{} of GPU work", FormatDuration(all));
  answer.sentence =
      fmt::format("{} launched most: {}; Python stacks were {}", NameInSentence(most->first),
                  FormatDuration(most->second), stacks ? "recorded" : "not recorded");
  return answer;
}

Answer AnswerWaits(const AnswerInput& in) {
  uint64_t calls = 0;
  std::map<std::string_view, DurationStats> by_name;
  DurationStats all;
  const auto add = [](DurationStats& sum, const DurationStats& more) {
    sum.count += more.count;
    sum.total += more.total;
    sum.max = std::max(sum.max, more.max);
  };
  for (const TraceAnalysis* trace : in.ranks) {
    for (const ApiRow& row : trace->launches.apis) {
      calls += row.stats.count;
      if (!MayWait(row.name)) continue;
      add(by_name[row.name], row.stats);
      add(all, row.stats);
    }
  }
  if (calls == 0) return CannotTell("no call of the device's runtime was recorded");
  Answer answer;
  if (all.count == 0) {
    answer.figure = "0";
    answer.of = FormatCounted(calls, "host call");
    answer.sentence = "No call of the host waits for the device";
    return answer;
  }
  answer.figure = fmt::format("{} in {}", FormatDuration(all.total), FormatCount(all.count));
  answer.of = FormatCounted(calls, "host call");
  const auto most =
      std::ranges::max_element(by_name, {}, [](const auto& row) { return row.second.total; });
  answer.sentence =
      fmt::format("Of calls that may wait for the device, {} takes longest: {} in {}, {} at most",
                  NameInSentence(most->first), FormatDuration(most->second.total),
                  FormatCounted(most->second.count, "call"), FormatDuration(most->second.max));
  return answer;
}

}  // namespace tacho
