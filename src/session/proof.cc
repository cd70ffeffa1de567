#include "session/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tacho {
namespace {

// How far a trace's own clock may be from ours before it is taken for another session's. Kineto's
// times are those of the engine's host; a probe tells its offset to half a second.
constexpr int64_t kClockSlackNs = 2'000'000'000;

bool IsOneOf(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Whether the events lie in the worker's window, by the worker's clock as far as it is known.
bool InWindow(const WorkerExpectation& worker, const TraceEvidence& trace) {
  if (!trace.first_unix_ns || !trace.last_unix_ns) return true;  // no events: nothing to hold
  int64_t slack = kClockSlackNs + worker.facts.clock_error_ns.value_or(0);
  int64_t offset = worker.facts.clock_offset_ns.value_or(0);
  return *trace.last_unix_ns - offset >= worker.start_unix_ns - slack &&
         *trace.first_unix_ns - offset <= worker.stop_unix_ns + slack;
}

bool Shares(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](int64_t pid) { return std::find(b.begin(), b.end(), pid) != b.end(); });
}

// Whether a process of another worker wrote the trace. (A process that is nobody's may have its
// number from a container of its own.)
bool OfAnother(const std::vector<WorkerExpectation>& workers, const WorkerExpectation& worker,
               const TraceEvidence& trace) {
  if (Shares(worker.pids, trace.pids)) return false;
  return std::any_of(workers.begin(), workers.end(), [&](const WorkerExpectation& other) {
    return Shares(other.pids, trace.pids);
  });
}

// The files of one worker that hold ranks, by (rank, process): data-parallel engines all write
// "rank 0 of 1" and are told apart by their processes.
using Held = std::map<std::pair<int64_t, int64_t>, std::vector<const TraceEvidence*>>;

Held HeldBy(const std::vector<WorkerExpectation>& workers, const WorkerExpectation& worker,
            const std::vector<TraceEvidence>& traces, std::set<std::string>& used) {
  Held held;
  for (const TraceEvidence& trace : traces) {
    if (used.contains(trace.path) || trace.front_end || trace.merged) continue;
    if (!IsOneOf(worker.files, trace.path) || !InWindow(worker, trace) ||
        OfAnother(workers, worker, trace))
      continue;
    // By the daemon an engine's other processes leave a file each, without an event.
    if (worker.by_daemon && trace.events == 0 && !trace.rank) continue;
    int64_t process = trace.pids.empty() ? 0 : trace.pids.front();
    held[{trace.rank.value_or(0), process}].push_back(&trace);
    used.insert(trace.path);
  }
  return held;
}

// Ranks of one engine and engines of one server, from what was told or else from the files.
struct Shape {
  int64_t ranks = 1, engines = 1;
};
Shape ShapeOf(const WorkerExpectation& worker, const Held& held) {
  Shape shape;
  int64_t world = 0;
  std::map<int64_t, int64_t> per_rank;
  for (const auto& [key, traces] : held) {
    world = std::max(world, traces.front()->world_size.value_or(0));
    world = std::max(world, key.first + 1);
    ++per_rank[key.first];
  }
  const EngineFacts& facts = worker.facts;
  shape.engines = std::max<int64_t>(1, facts.data_parallel.value_or(1));
  shape.engines =
      std::max<int64_t>(shape.engines, static_cast<int64_t>(worker.steps_by_metrics.size()));
  if (facts.tensor_parallel)
    shape.ranks = int64_t{*facts.tensor_parallel} * facts.pipeline_parallel.value_or(1);
  else
    shape.ranks = std::max<int64_t>(1, world);
  // Expert parallelism makes one world of all engines: each rank is told by its number.
  if (world == shape.ranks * shape.engines && shape.engines > 1) {
    shape.ranks = world;
    shape.engines = 1;
  }
  return shape;
}

std::string NoFileBecause(const WorkerExpectation& worker, int64_t engine) {
  if (!worker.trouble.empty()) return worker.trouble;
  if (worker.start_unix_ns == 0) return "no file: its profiler was never started";
  auto at = static_cast<size_t>(engine);
  if (at < worker.steps_by_metrics.size()) {
    int64_t made = worker.steps_by_metrics[at];
    if (made == 0)
      return "no file, and its engine took no step: no request reached it (drive every engine: "
             "load straight to the workers, or more of it)";
    if (worker.steps_asked && made <= *worker.steps_asked)
      return fmt::format("no file: the engine took {} steps and writes in the one behind step {}",
                         made, *worker.steps_asked);
  }
  if (worker.by_daemon)
    return "no file of this rank: its process never asked Kineto's daemon (started without "
           "KINETO_USE_DAEMON=1, or it hangs), or it died";
  if (worker.files.empty())
    return "no file at all: the engine writes elsewhere (--trace-dir, --map, --collect-from), its "
           "disk is full, or it records one session only (restart it)";
  return "no file of this rank: it died, runs on another machine, or its file was overwritten by "
         "another engine of the same folder";
}

// Why the files do not prove the rank; "" when they do.
std::string Objection(const WorkerExpectation& worker, int64_t engine,
                      const std::vector<const TraceEvidence*>& traces, uint64_t steps,
                      bool steps_told) {
  uint64_t empty = 0;
  for (const TraceEvidence* trace : traces) empty += trace->empty_steps;
  for (const TraceEvidence* trace : traces) {
    if (!trace->defect.empty()) return fmt::format("{}: {}", trace->path, trace->defect);
    if (!worker.steps_named && trace->events == 0)
      return fmt::format("{}: holds no event: no request reached this engine", trace->path);
  }
  // Before the GPU: where nothing ran it had nothing to do.
  if (worker.steps_named && !worker.by_stage && steps_told && steps == 0) {
    auto at = static_cast<size_t>(engine);
    bool idle = at < worker.steps_by_metrics.size() && worker.steps_by_metrics[at] == 0;
    return idle ? "its file holds no step: no request reached this engine"
                : "its file holds no step: the load came before or behind the window";
  }
  for (const TraceEvidence* trace : traces) {
    if (trace->has_gpu && trace->gpu_events == 0)
      return fmt::format(
          "{}: a GPU is named and no GPU event is there: CUPTI was not attached (a "
          "second profiler, or rights)",
          trace->path);
  }
  if (!worker.steps_named) return "";
  if (worker.by_stage && traces.size() < 2)
    return fmt::format(
        "{}: one stage only, prefill or decode: the other saw no step of its own, or "
        "the engine was not idle at the start and a decode step came first",
        traces.front()->path);
  if (steps_told && steps == 0)
    return "its files hold no step: the load came before or behind the window";
  if (worker.steps_asked && steps_told && !worker.by_stage &&
      steps + empty < static_cast<uint64_t>(*worker.steps_asked))
    return fmt::format("{} of the {} steps that were asked for: stopped early, or too little load",
                       steps, *worker.steps_asked);
  return "";
}

RankProof ProveRank(const WorkerExpectation& worker, int64_t engine, int64_t rank,
                    const std::vector<const TraceEvidence*>* traces,
                    std::vector<std::string>& remarks) {
  RankProof proof;
  proof.worker_url = worker.url;
  proof.engine = engine;
  proof.rank = rank;
  if (traces == nullptr) {
    proof.why = NoFileBecause(worker, engine);
    return proof;
  }
  uint64_t steps = 0;
  bool told = false;
  for (const TraceEvidence* trace : *traces) {
    proof.paths.push_back(trace->path);
    steps += trace->steps.value_or(0);
    told |= trace->steps.has_value();
  }
  std::sort(proof.paths.begin(), proof.paths.end());
  if (told && worker.steps_named) proof.steps = steps;
  proof.why = Objection(worker, engine, *traces, steps, told);
  proof.proven = proof.why.empty();
  // A start that takes its time costs some; by a bound or a stranger's stop it is most of them.
  const auto at = static_cast<size_t>(engine);
  if (proof.proven && proof.steps && !worker.steps_asked && at < worker.steps_by_metrics.size() &&
      static_cast<int64_t>(2 * steps) < worker.steps_by_metrics[at]) {
    remarks.push_back(fmt::format(
        "{}, rank {}: its file holds {} of the {} steps that the engine's metrics counted: a bound "
        "(max_iterations), a stop by somebody else, or a start that took long",
        worker.url, rank, steps, worker.steps_by_metrics[at]));
  }
  return proof;
}

}  // namespace

std::vector<std::string> Proof::Missing() const {
  std::vector<std::string> sentences;
  for (const RankProof& rank : ranks)
    if (!rank.proven)
      sentences.push_back(fmt::format(
          "{}{}, rank {}: {}", rank.worker_url,
          rank.engine > 0 ? fmt::format(", engine {}", rank.engine) : "", rank.rank, rank.why));
  return sentences;
}

Proof Prove(const std::vector<WorkerExpectation>& workers, std::vector<TraceEvidence> traces) {
  std::sort(traces.begin(), traces.end(),
            [](const TraceEvidence& a, const TraceEvidence& b) { return a.path < b.path; });
  Proof proof;
  std::set<std::string> used;
  for (const WorkerExpectation& worker : workers) {
    Held held = HeldBy(workers, worker, traces, used);
    Shape shape = ShapeOf(worker, held);
    for (int64_t rank = 0; rank < shape.ranks; ++rank) {
      // Engines of one server are told apart by process only; which number a process has is not in
      // its file, so the busier one stands for the busier engine.
      std::vector<const std::vector<const TraceEvidence*>*> of_rank;
      for (const auto& [key, files] : held)
        if (key.first == rank) of_rank.push_back(&files);
      auto steps_of = [](const std::vector<const TraceEvidence*>* files) {
        uint64_t steps = 0;
        for (const TraceEvidence* file : *files) steps += file->steps.value_or(0);
        return steps;
      };
      std::stable_sort(of_rank.begin(), of_rank.end(),
                       [&](auto* a, auto* b) { return steps_of(a) > steps_of(b); });
      std::vector<int64_t> engines;
      for (int64_t engine = 0; engine < shape.engines; ++engine) engines.push_back(engine);
      std::stable_sort(engines.begin(), engines.end(), [&](int64_t a, int64_t b) {
        auto steps = [&](int64_t e) {
          auto at = static_cast<size_t>(e);
          return at < worker.steps_by_metrics.size() ? worker.steps_by_metrics[at] : 0;
        };
        return steps(a) > steps(b);
      });
      for (size_t i = 0; i < engines.size(); ++i)
        proof.ranks.push_back(ProveRank(worker, engines[i], rank,
                                        i < of_rank.size() ? of_rank[i] : nullptr, proof.remarks));
      for (size_t i = engines.size(); i < of_rank.size(); ++i)
        for (const TraceEvidence* file : *of_rank[i]) proof.extra.push_back(file->path);
    }
  }
  std::sort(proof.ranks.begin(), proof.ranks.end(), [](const RankProof& a, const RankProof& b) {
    return std::tie(a.worker_url, a.engine, a.rank) < std::tie(b.worker_url, b.engine, b.rank);
  });
  for (const TraceEvidence& trace : traces) {
    if (used.contains(trace.path)) continue;
    bool ours = std::any_of(workers.begin(), workers.end(), [&](const WorkerExpectation& worker) {
      return IsOneOf(worker.files, trace.path) && InWindow(worker, trace);
    });
    (ours ? proof.extra : proof.foreign).push_back(trace.path);
  }
  std::sort(proof.extra.begin(), proof.extra.end());
  proof.complete =
      !proof.ranks.empty() && std::all_of(proof.ranks.begin(), proof.ranks.end(),
                                          [](const RankProof& rank) { return rank.proven; });
  return proof;
}

}  // namespace tacho
