#include "run/copied_traces.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "run/run_place.h"

namespace tacho {
namespace {

// If the trace lies in a worker's folder of a recording: the worker ("w0"); else "".
std::string WorkerOf(const TraceAnalysis& trace) {
  const auto place = RunPlaceOf(trace.path);
  const bool is_worker = place && place->worker.size() > 1 && place->worker.starts_with('w') &&
                         place->worker.find_first_not_of("0123456789", 1) == std::string::npos;
  return is_worker ? place->worker : "";
}

bool MayBeOne(const TraceAnalysis& a, const TraceAnalysis& b) {
  const std::string worker = WorkerOf(a), other = WorkerOf(b);
  return IsRank(a.facts.role) && a.facts.role == b.facts.role && !b.span.empty() &&
         a.facts.pids == b.facts.pids &&
         std::ranges::equal(a.header.devices, b.header.devices, {}, &DeviceProperties::name,
                            &DeviceProperties::name) &&
         (worker.empty() || other.empty() || worker == other);
}

bool HasTheSameSums(const TraceAnalysis& a, const TraceAnalysis& b) {
  return std::ranges::equal(a.devices, b.devices, [](const DeviceTime& x, const DeviceTime& y) {
    return x.device == y.device && x.window == y.window && x.kernel_sum == y.kernel_sum;
  });
}

// Whether `b` is truncated and `a` has all of its events and more. Only an equal trace id proves
// that, because the truncation changes everything else that two copies have in common.
bool IsTruncatedCopy(const TraceAnalysis& a, const TraceAnalysis& b) {
  return b.notes.ends_early() && !a.notes.ends_early() && !a.header.trace_id.empty() &&
         a.header.trace_id == b.header.trace_id && a.header.base_time_ns == b.header.base_time_ns &&
         a.span.start <= b.span.start && b.span.end <= a.span.end &&
         b.counts.total < a.counts.total && a.scope == b.scope;
}

// How `b` relates to `a`, as words that stand before the name of `a` in a message; "" if they are
// two different traces.
std::string_view WhatItIs(const TraceAnalysis& a, const TraceAnalysis& b) {
  if (!MayBeOne(a, b)) return "";
  if (IsTruncatedCopy(a, b)) return "a truncated copy of ";
  if (!IsSameTrace(a, b)) return "";
  if (a.scope != b.scope) return "a part of ";
  return HasTheSameSums(a, b) ? "a copy of " : "";
}

}  // namespace

void LeaveOutCopies(RunAnalysis& run) {
  // Sorts the better traces to the front, because of two copies the first one stays: complete
  // traces before truncated ones and parts, traces before results, files in a recording's folder
  // before others.
  std::vector<size_t> order(run.traces.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) {
    const TraceAnalysis& trace = run.traces[i];
    return std::tuple(trace.notes.ends_early(), trace.scope.window.has_value(),
                      !trace.scope.device.empty(), !trace.results.empty(), WorkerOf(trace).empty());
  });
  std::map<std::optional<int64_t>, std::vector<size_t>> of_rank;  // those that stay
  std::vector<bool> is_copy(run.traces.size());
  for (const size_t i : order) {
    const TraceAnalysis& trace = run.traces[i];
    std::vector<size_t>& same_rank = of_rank[trace.facts.rank];
    for (const size_t other : same_rank) {
      const std::string_view what = WhatItIs(run.traces[other], trace);
      if (what.empty()) continue;
      run.copies.push_back({trace.path, std::string(what) + run.traces[other].path});
      run.skipped.push_back(trace.path + ": " + run.copies.back().what);
      is_copy[i] = true;
      break;
    }
    if (!is_copy[i]) same_rank.push_back(i);
  }
  size_t next = 0;
  std::erase_if(run.traces, [&](const TraceAnalysis&) { return is_copy[next++]; });
  std::ranges::sort(run.skipped);
}

}  // namespace tacho
