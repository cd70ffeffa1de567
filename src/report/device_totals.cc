#include "report/device_totals.h"

#include <algorithm>

namespace tacho {

std::string DeviceWord(const DeviceTotals& totals) { return totals.on_host ? "CPU" : "GPU"; }

std::string_view WorkWord(const DeviceTotals& totals) {
  if (!totals.on_host) return "kernel";
  return totals.has_collectives_beside ? "work" : "operator";
}

std::string_view WorkWords(const DeviceTotals& totals) {
  if (!totals.on_host) return "kernels";
  return totals.has_collectives_beside ? "working operators and collectives" : "working operators";
}

std::string_view Whereabouts(const TraceAnalysis& trace) {
  const bool part = trace.scope.window || !trace.scope.device.empty();
  return part ? "in this part of the trace" : "in this trace";
}

std::string_view Whereabouts(const RunAnalysis& run) {
  if (const TraceAnalysis* only = OnlyTrace(run)) return Whereabouts(*only);
  const Scope& scope = run.traces.front().scope;
  return scope.window || !scope.device.empty() ? "in these parts of the traces" : "in these traces";
}

bool IsWorker(const TraceAnalysis& trace) { return IsRank(trace.facts.role); }

const TraceAnalysis* OnlyTrace(const RunAnalysis& run) {
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  if (run.traces.size() > 1 && ranks.size() != 1) return nullptr;
  return ranks.empty() ? &run.traces.front() : ranks.front();
}

const RankRow& RankOfSteps(const RankTable& ranks) {
  if (ranks.slowest) return ranks.rows[*ranks.slowest];
  const auto timed =
      std::ranges::find_if(ranks.rows, [](const RankRow& row) { return row.window.ns > 0; });
  return timed == ranks.rows.end() ? ranks.rows.front() : *timed;
}

StepTable StepsOf(const RunAnalysis& run, const RankRow& row) {
  StepTable steps;
  for (const RankRow& stage : run.ranks.rows) {
    if (stage.group != row.group) continue;
    const auto trace = std::ranges::find(run.traces, stage.path, &TraceAnalysis::path);
    if (trace == run.traces.end()) continue;
    if (steps.method.empty()) steps.method = trace->steps.method;
    steps.steps.insert(steps.steps.end(), trace->steps.steps.begin(), trace->steps.steps.end());
  }
  return steps;
}

}  // namespace tacho
