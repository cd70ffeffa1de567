#include "session/load/load_window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "load/result/request_times.h"
#include "session/recording.h"

namespace tacho {
namespace {

constexpr std::array<double, 2> kPercents = {50, 99};
constexpr size_t kParts = 10;  // parts of a window; their differences show how certain its rate is

// Whether the worker's trace may end before the window: at a bound, or by somebody else's stop.
bool MayEndEarly(const WorkerExpectation& worker, const Proof& proof) {
  return worker.steps_bound || worker.own_bound ||
         std::ranges::any_of(proof.ranks, [&](const RankProof& rank) {
           return rank.worker_url == worker.url && rank.remark &&
                  rank.remark->id == FindingId::kHoldsPart;
         });
}

// The largest difference between the rate in a stretch of `length_ns` and the rate in the whole
// window, as a share of the whole window's rate. 0 if the window is shorter than two such
// stretches, or has no token.
double LargestSwing(const LoadRecords& records, const LoadWindow& window, int64_t length_ns) {
  constexpr double kMostHalves = 100'000;
  const auto whole_ns = static_cast<double>(window.end_ns - window.begin_ns);
  // Each stretch begins in the middle of the previous one.
  const double half_ns = std::max(static_cast<double>(length_ns) / 2, whole_ns / kMostHalves);
  const auto halves = static_cast<size_t>(whole_ns / half_ns);
  if (halves < 4 || window.output_tokens == 0) return 0;
  std::vector<double> tokens(halves, 0);
  for (const RequestRecord& request : records.requests) {
    for (size_t i = 0; i < request.chunk_ns.size(); ++i) {
      const double at = static_cast<double>(request.chunk_ns[i] - window.begin_ns) / half_ns;
      if (at >= 0 && at < static_cast<double>(halves))
        tokens[static_cast<size_t>(at)] += request.chunk_tokens[i];
    }
  }
  const double mean = 2 * half_ns * static_cast<double>(window.output_tokens) / whole_ns;
  double most = 0;
  for (size_t i = 1; i < halves; ++i)
    most = std::max(most, std::abs((tokens[i - 1] + tokens[i]) / mean - 1));
  return most;
}

LoadWindow WindowOf(const std::vector<const RequestRecord*>& requests, int64_t begin_ns,
                    int64_t end_ns) {
  LoadWindow window;
  window.begin_ns = begin_ns;
  window.end_ns = end_ns;
  window.tokens_in_parts.assign(kParts, 0);
  const double part_ns = static_cast<double>(end_ns - begin_ns) / kParts;
  std::vector<double> ttft, tpot;
  uint64_t unsure_ttft = 0, unsure_tpot = 0;
  const auto inside = [&](int64_t at_ns) { return at_ns >= begin_ns && at_ns < end_ns; };
  for (const RequestRecord* picked : requests) {
    const RequestRecord& request = *picked;
    if (inside(request.first_token_ns)) {
      if (const auto first = TtftNs(request))
        ttft.push_back(static_cast<double>(*first));
      else
        ++unsure_ttft;
      const bool whole = request.status == RequestStatus::kDone && request.output_tokens > 1 &&
                         inside(request.last_choice_ns);
      if (const auto each = TpotNs(request); whole && each)
        tpot.push_back(*each);
      else
        unsure_tpot += whole;
    }
    if (request.ended_ns >= begin_ns && request.ended_ns < end_ns) {
      window.requests_done += request.status == RequestStatus::kDone;
      window.requests_failed +=
          request.status == RequestStatus::kFailed || request.status == RequestStatus::kPartial;
    }
    for (size_t i = 0; i < request.chunk_ns.size(); ++i) {
      if (request.chunk_ns[i] < begin_ns || request.chunk_ns[i] >= end_ns) continue;
      const double at = static_cast<double>(request.chunk_ns[i] - begin_ns) / part_ns;
      window.tokens_in_parts[std::min<size_t>(kParts - 1, static_cast<size_t>(at))] +=
          request.chunk_tokens[i];
      window.output_tokens += request.chunk_tokens[i];
    }
  }
  // Leaves out times that are too uncertain, as the table of `tacho load` does.
  if (TooManyUnsure(unsure_ttft, unsure_ttft + ttft.size())) ttft.clear();
  if (TooManyUnsure(unsure_tpot, unsure_tpot + tpot.size())) tpot.clear();
  window.ttft = Describe(std::move(ttft), kPercents);
  window.tpot = Describe(std::move(tpot), kPercents);
  return window;
}

}  // namespace

std::optional<double> LoadWindow::TokensPerSecond() const {
  if (end_ns <= begin_ns) return std::nullopt;
  return static_cast<double>(output_tokens) * 1e9 / static_cast<double>(end_ns - begin_ns);
}

std::optional<double> LoadWindow::StandardError() const {
  if (output_tokens == 0 || tokens_in_parts.size() < 2) return std::nullopt;
  const auto parts = static_cast<double>(tokens_in_parts.size());
  const double mean = static_cast<double>(output_tokens) / parts;
  double squares = 0;
  for (uint64_t tokens : tokens_in_parts) {
    const double off = static_cast<double>(tokens) - mean;
    squares += off * off;
  }
  return std::sqrt(squares / (parts - 1) / parts) / mean;
}

LoadWindow MeasureWindow(const LoadRecords& records, int64_t begin_ns, int64_t end_ns) {
  std::vector<const RequestRecord*> all;
  std::map<std::string_view, std::vector<const RequestRecord*>> scenarios;
  for (const RequestRecord& request : records.requests) {
    all.push_back(&request);
    scenarios[request.scenario].push_back(&request);
  }
  LoadWindow window = WindowOf(all, begin_ns, end_ns);
  if (scenarios.size() < 2) return window;
  for (const auto& [name, requests] : scenarios) {
    window.scenarios.push_back(WindowOf(requests, begin_ns, end_ns));
    window.scenarios.back().scenario = name;
  }
  return window;
}

void Recording::EndProfiledWith(const std::vector<TraceEvidence>& traces, const Proof& proof) {
  if (!load || profiled.end_ns <= profiled.begin_ns) return;
  int64_t end_ns = profiled.end_ns;
  for (const RecordedWorker& worker : workers) {
    if (!MayEndEarly(worker.expectation, proof)) continue;
    std::optional<int64_t> last;  // by our clock
    for (const TraceEvidence& trace : traces)
      if (worker.expectation.Brought(trace.path) && !trace.front_end && trace.last_unix_ns)
        last = std::max(last.value_or(INT64_MIN),
                        trace.last_step_unix_ns.value_or(*trace.last_unix_ns) -
                            worker.facts.clock_offset_ns.value_or(0));
    end_ns = last ? std::min(end_ns, *last - (clocks.unix_ns - clocks.monotonic_ns)) : INT64_MIN;
    // The worker has no trace, its trace ended before the last profiler ran, or its clock is wrong.
    if (end_ns <= profiled.begin_ns) {
      profiled = {};
      return;
    }
  }
  if (end_ns < profiled.end_ns) profiled = MeasureWindow(*load, profiled.begin_ns, end_ns);
}

std::optional<Recording::Cost> Recording::CostOfProfiling() const {
  std::optional<double> without = baseline.TokensPerSecond(), with = profiled.TokensPerSecond();
  std::optional<double> error_without = baseline.StandardError(),
                        error_with = profiled.StandardError();
  if (!without || !with || !error_without || !error_with) return std::nullopt;
  // What a dead server loses is not a cost of profiling.
  if (profiled.requests_failed > 0 || baseline.requests_failed > 0) return std::nullopt;
  const double ratio = *with / *without;
  const double of_parts = 2 * ratio * std::hypot(*error_without, *error_with);
  // Requests that prefill at the same time halt the decoding of all. A window shorter than a
  // request may fall into such a moment, and the differences between the window's own parts do not
  // show that. The baseline's stretches of the same length do.
  const double of_baseline =
      load ? LargestSwing(*load, baseline, profiled.end_ns - profiled.begin_ns) : 0;
  return Cost{1 - ratio, std::max(of_parts, of_baseline)};
}

}  // namespace tacho
