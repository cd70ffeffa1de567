#include "analysis/requests/run_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/requests/comm_waits.h"
#include "analysis/requests/request_analysis.h"

namespace tacho {
namespace {

// One engine of a worker, and the traces of its ranks.
struct EngineTraces {
  uint32_t worker = 0;
  std::vector<uint32_t> traces;  // ascending
  uint32_t lowest = 0;           // the trace of the lowest rank
};

std::vector<EngineTraces> EnginesOfRun(const RunAnalysis& run, const RequestTable& table) {
  // Keys: worker, data-parallel engine, and how many earlier traces claim to be the same rank.
  // Values: traces by rank.
  std::map<std::tuple<uint32_t, int64_t, size_t>, std::map<int64_t, uint32_t>> engines;
  std::map<std::tuple<uint32_t, int64_t, int64_t>, size_t> claims;
  for (uint32_t i = 0; i < run.traces.size(); ++i) {
    const TraceAnalysis& trace = run.traces[i];
    if (trace.facts.role != TraceRole::kWorker || !trace.digest || trace.digest->steps.empty())
      continue;
    const RankIdentity& identity = trace.facts.identity;
    const auto worker =
        std::ranges::find(table.workers, identity.worker, &RequestTable::Worker::name);
    if (worker == table.workers.end()) continue;
    const auto number = static_cast<uint32_t>(worker - table.workers.begin());
    const int64_t group = identity.data_parallel.value_or(0), rank = identity.rank.value_or(0);
    const size_t before = claims[{number, group, rank}]++;
    engines[{number, group, before}].emplace(rank, i);
  }
  std::vector<EngineTraces> found;
  for (const auto& [key, ranks] : engines) {
    EngineTraces& engine = found.emplace_back();
    engine.worker = std::get<0>(key);
    engine.lowest = ranks.begin()->second;
    for (const auto& [rank, trace] : ranks) engine.traces.push_back(trace);
    std::ranges::sort(engine.traces);
  }
  return found;
}

}  // namespace

std::vector<std::vector<DurationNs>> SkewOf(const RunAnalysis& run,
                                            const std::vector<uint32_t>& traces) {
  std::vector<std::vector<DurationNs>> skew(run.traces.size());
  const std::vector<CommRank> ranks = CommRanksOf(run);
  const MatchedCollectives matched = MatchCollectives(ranks);
  if (matched.collectives.empty()) return skew;
  for (const uint32_t trace : traces) {
    if (!ranks[trace].series) continue;
    skew[trace] = SkewOfCells(run.traces[trace].digest->cells, *ranks[trace].series,
                              WaitsOf(trace, matched, ranks));
  }
  return skew;
}

void AnalyzeRequests(RunAnalysis& run, RequestTable table) {
  run.requests = {};
  run.joined.reset();
  if (table.rows.empty()) return;
  auto joined = std::make_shared<RunRequests>();
  joined->table = std::move(table);
  const std::vector<EngineTraces> found = EnginesOfRun(run, joined->table);
  std::vector<JoinEngine> engines;
  std::map<uint32_t, size_t> of_worker, count;
  for (const EngineTraces& engine : found) ++count[engine.worker];
  for (const EngineTraces& of : found) {
    ClockMap clocks = joined->table.clocks;
    const TraceAnalysis& trace = run.traces[of.lowest];
    if (const auto to_host = trace.header.to_host())
      clocks.Relate({ClockOf::kTrace, of.lowest}, {ClockOf::kHost, of.worker},
                    {to_host->shift, kTraceClockError});
    JoinEngine engine =
        EngineOf(*trace.digest, clocks.Between({ClockOf::kTrace, of.lowest}, {ClockOf::kClient}));
    engine.worker = of.worker;
    engine.trace = of.lowest;
    engine.ranks = of.traces;
    engines.push_back(std::move(engine));
    const std::string& name = joined->table.workers[of.worker].name;
    joined->engine_names.push_back(
        count[of.worker] == 1 ? name : fmt::format("{}.{}", name, of_worker[of.worker]++));
  }
  joined->join = JoinRequests(joined->table, std::move(engines));
  if (joined->table.workers.empty()) joined->join.why = JoinWhy::kNoWorkers;
  std::vector<uint32_t> traces;
  for (const JoinEngine& engine : joined->join.engines) traces.push_back(engine.trace);
  joined->skew = SkewOf(run, traces);
  run.joined = std::move(joined);
  run.requests = SplitRequests(InputOf(run));
}

RequestInput InputOf(const RunAnalysis& run) {
  RequestInput input{
      &run.joined->table, &run.joined->join, {}, run.joined->engine_names, &run.joined->skew};
  for (const TraceAnalysis& trace : run.traces) input.digests.push_back(trace.digest.get());
  return input;
}

}  // namespace tacho
