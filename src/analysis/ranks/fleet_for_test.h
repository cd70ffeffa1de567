#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {

// Builds a run whose waits are known: ranks that compute, idle and meet in collectives.
//
//   FleetForTest fleet(2);
//   fleet.Compute(0, 5'000);
//   fleet.Idle(1, 9'000);             // its host launches late
//   fleet.Join({0, 1}, 2'000, "tp");  // rank 0 waits 4 us
//   const RankBlame blame = fleet.Finish().ranks.blame;
class FleetForTest {
 public:
  explicit FleetForTest(size_t ranks) : ranks_(ranks) {
    for (size_t i = 0; i < ranks; ++i) {
      ranks_[i].trace.header().rank = static_cast<int64_t>(i);
      ranks_[i].trace.header().world_size = static_cast<int64_t>(ranks);
      ranks_[i].trace.header().base_time_ns = 1'790'000'000'000'000'000;
    }
  }

  void Compute(size_t rank, int64_t ns, std::string_view name = "gemm") { Run(rank, name, ns, {}); }
  void Copy(size_t rank, int64_t ns) {
    Rank& of = ranks_[rank];
    of.trace.Memcpy("Memcpy HtoD (Pinned -> Device)",
                    {.start = OnClock(rank, of.now), .duration = ns});
    of.now += ns;
  }
  void Idle(size_t rank, int64_t ns) { ranks_[rank].now += ns; }

  // Adds a collective of `ranks`. It ends on all of them `transfer` ns after the last one came; if
  // `uneven` is given, it ends uneven[i] ns later on ranks[i]. With the group "", the kernels do
  // not name their process group.
  void Join(const std::vector<size_t>& ranks, int64_t transfer, std::string_view group = "",
            const std::vector<int64_t>& uneven = {},
            std::string_view name = "ncclDevKernel_AllReduce") {
    std::vector<OwnedArguments> args(group.empty() ? 0 : ranks.size(),
                                     {{"Collective name", "\"allreduce\""}});
    JoinWith(ranks, transfer, group, args, uneven, name);
  }
  using OwnedArguments = std::vector<std::pair<std::string, std::string>>;
  // As Join, but each rank's kernel has these arguments, besides those that name the group.
  void JoinWith(const std::vector<size_t>& ranks, int64_t transfer, std::string_view group,
                std::vector<OwnedArguments> args, const std::vector<int64_t>& uneven = {},
                std::string_view name = "ncclDevKernel_AllReduce") {
    int64_t last = 0;
    for (const size_t rank : ranks) last = std::max(last, ranks_[rank].now);
    std::string members;
    for (const size_t rank : ranks) members += (members.empty() ? "" : ", ") + std::to_string(rank);
    args.resize(ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) {
      const int64_t end = last + transfer + (uneven.empty() ? 0 : uneven[i]);
      if (!group.empty()) {
        args[i].emplace_back("Process Group Name", "\"" + std::string(group) + "\"");
        args[i].emplace_back("Process Group Ranks", "\"[" + members + "]\"");
      }
      Run(ranks[i], name, end - ranks_[ranks[i]].now, {args[i].begin(), args[i].end()});
    }
  }
  void JoinAll(int64_t transfer) {
    std::vector<size_t> all;
    for (size_t i = 0; i < ranks_.size(); ++i) all.push_back(i);
    Join(all, transfer);
  }

  // Makes the clock of a rank run fast by `ppm` parts per million.
  void Drift(size_t rank, int64_t ppm) { ranks_[rank].ppm = ppm; }

  // `order`: the ranks in the order of their paths; empty: ascending.
  RunAnalysis Finish(std::vector<size_t> order = {}) && {
    RunAnalysis run;
    for (size_t i = 0; i < ranks_.size(); ++i) order.push_back(i);
    order.resize(ranks_.size());
    for (const size_t rank : order) {
      const Trace trace = std::move(ranks_[rank].trace).Finish();
      run.traces.push_back(AnalyzeTrace(trace, BuiltInRules(), {.scope = {}, .digest = true}));
      run.traces.back().path = "p" + std::to_string(100 + run.traces.size());
    }
    AnalyzeRun(run);
    return run;
  }

 private:
  struct Rank {
    TraceBuilder trace;
    int64_t now = 1'000'000, correlation = 0, ppm = 0;
  };
  int64_t OnClock(size_t rank, int64_t t) const { return t + t * ranks_[rank].ppm / 1'000'000; }
  void Run(size_t rank, std::string_view name, int64_t ns, const TraceBuilder::Arguments& args) {
    Rank& of = ranks_[rank];
    const int64_t start = OnClock(rank, of.now), end = OnClock(rank, of.now + ns);
    of.trace.Host("cuda_runtime", "cudaLaunchKernel",
                  {.start = start - 100, .duration = 50, .correlation = of.correlation});
    of.trace.Kernel(
        name,
        {.start = start, .duration = end - start, .correlation = of.correlation++, .args = args});
    of.now += ns;
  }

  std::vector<Rank> ranks_;
};

}  // namespace tacho
