#include "session/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace tacho {
namespace {

// How far a trace's own clock may be from ours before it is taken for another session's. Kineto's
// times are those of the engine's host; a probe tells its offset to half a second.
constexpr int64_t kClockSlackNs = 2'000'000'000;
// A trace that ends so long before its stop, and by a tenth of the window, did not end with it.
constexpr int64_t kEndSlackNs = 500'000'000;
constexpr uint64_t kNoRoom = 16u << 20;

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

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
  bool told = true;  // false: neither the engine nor a file tells
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
  shape.told = facts.tensor_parallel || !held.empty();
  // Expert parallelism makes one world of all engines: each rank is told by its number.
  if (world == shape.ranks * shape.engines && shape.engines > 1) {
    shape.ranks = world;
    shape.engines = 1;
  }
  return shape;
}

// Its file lies there, but holds another time than this session's. "" when there is none.
std::string OtherTime(const WorkerExpectation& worker, int64_t rank,
                      const std::vector<TraceEvidence>& traces) {
  for (const TraceEvidence& trace : traces) {
    if (!IsOneOf(worker.files, trace.path) || InWindow(worker, trace) || trace.front_end ||
        trace.merged || trace.rank.value_or(0) != rank)
      continue;
    const int64_t off = *trace.first_unix_ns - worker.start_unix_ns;
    std::string text =
        fmt::format("{}: its events lie {:.1f} s {} this session's start: ", trace.path,
                    Seconds(std::abs(off)), off > 0 ? "behind" : "before");
    text +=
        worker.key.empty()
            ? "the engine's clock is off from ours by that much, or it is an earlier session's"
            : "it is this session's by its name, so the engine's clock is off from ours by that "
              "much";
    if (worker.facts.clock_offset_ns)
      text += fmt::format(" (the preflight saw {:+.1f} s)", Seconds(*worker.facts.clock_offset_ns));
    return text + "; set the clocks right (NTP)";
  }
  return "";
}

std::string NoFileBecause(const WorkerExpectation& worker, int64_t engine, int64_t rank,
                          const std::vector<TraceEvidence>& traces) {
  if (!worker.trouble.empty()) return worker.trouble;
  if (worker.start_unix_ns == 0) return "no file: its profiler was never started";
  if (std::string why = OtherTime(worker, rank, traces); !why.empty()) return why;
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
  if (worker.files.empty()) {
    if (const std::string full = worker.FullDisk(); !full.empty()) return "no file at all: " + full;
    return "no file at all: the engine writes elsewhere (--trace-dir, --map, --collect-from), or "
           "it records one session only (restart it)";
  }
  return "no file of this rank: it died, runs on another machine, or its file was overwritten by "
         "another engine of the same folder";
}

// Why a file is damaged, as far as that can be told.
std::string DamagedBecause(const WorkerExpectation& worker, std::string_view defect) {
  const bool cut = defect.starts_with("truncated") || defect.starts_with("corrupt-gzip");
  if (cut && !worker.trouble.empty()) return worker.trouble;
  if (const std::string full = worker.FullDisk(); cut && !full.empty()) return full;
  if (cut) return "the engine was killed while it wrote, or it still writes (--timeout)";
  if (defect.starts_with("read-failed")) return "the disk or share that holds it fails";
  return "several engines wrote into it, or the engine's profiler is broken";
}

// Why the files do not prove the rank; "" when they do.
std::string Objection(const WorkerExpectation& worker, int64_t engine,
                      const std::vector<const TraceEvidence*>& traces, uint64_t steps,
                      bool steps_told) {
  uint64_t empty = 0;
  for (const TraceEvidence* trace : traces) empty += trace->empty_steps;
  for (const TraceEvidence* trace : traces) {
    if (!trace->defect.empty())
      return fmt::format("{}: {}: {}", trace->path, trace->defect,
                         DamagedBecause(worker, trace->defect));
    if (!worker.steps_named && trace->idle)
      return fmt::format("{}: holds no work: no request reached this engine in the window",
                         trace->path);
  }
  // Before the GPU: where nothing ran it had nothing to do.
  if (worker.steps_named && !worker.by_stage && steps_told && steps == 0) {
    auto at = static_cast<size_t>(engine);
    bool idle = at < worker.steps_by_metrics.size() && worker.steps_by_metrics[at] == 0;
    return idle ? "its file holds no step: no request reached this engine in the window"
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
  if (worker.by_stage && traces.size() < 2 && !worker.trouble.empty()) return worker.trouble;
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

// What a proven rank's file does not cover of its window; "" when nothing is to be said.
std::string LeavesOut(const WorkerExpectation& worker, int64_t engine,
                      const std::vector<const TraceEvidence*>& traces, uint64_t steps) {
  const auto at = static_cast<size_t>(engine);
  if (worker.steps_asked || at >= worker.steps_by_metrics.size()) return "";
  const int64_t made = worker.steps_by_metrics[at];
  int64_t end = INT64_MIN;
  for (const TraceEvidence* trace : traces)
    end = std::max(end, trace->last_unix_ns.value_or(INT64_MAX));
  const int64_t early =
      worker.stop_asked_unix_ns == 0 || end == INT64_MAX
          ? 0
          : worker.stop_asked_unix_ns - (end - worker.facts.clock_offset_ns.value_or(0));
  const int64_t window = worker.stop_asked_unix_ns - worker.start_unix_ns;
  const bool ends_early =
      early > std::max(kEndSlackNs + worker.facts.clock_error_ns.value_or(0), window / 10);
  // A start that takes its time costs some; a bound or a stranger's stop costs all behind it.
  const auto held = static_cast<int64_t>(steps);
  if (2 * held >= made && !(ends_early && 10 * held < 9 * made)) return "";
  return fmt::format("its file holds {} of the {} steps that the engine's metrics counted{}", steps,
                     made,
                     ends_early ? fmt::format(" and ends {:.1f} s before the stop: a stop by "
                                              "somebody else, or a bound (max_iterations)",
                                              Seconds(early))
                                : ": a start that took long, or a bound (max_iterations)");
}

RankProof ProveRank(const WorkerExpectation& worker, int64_t engine, int64_t rank,
                    const std::vector<const TraceEvidence*>& traces,
                    std::vector<std::string>& remarks) {
  RankProof proof;
  proof.worker_url = worker.url;
  proof.engine = engine;
  proof.rank = rank;
  uint64_t steps = 0;
  bool told = false;
  for (const TraceEvidence* trace : traces) {
    proof.paths.push_back(trace->path);
    steps += trace->steps.value_or(0);
    told |= trace->steps.has_value();
  }
  std::sort(proof.paths.begin(), proof.paths.end());
  if (told && worker.steps_named) proof.steps = steps;
  proof.why = Objection(worker, engine, traces, steps, told);
  proof.proven = proof.why.empty();
  if (!proof.proven || !proof.steps) return proof;
  if (const std::string text = LeavesOut(worker, engine, traces, steps); !text.empty())
    remarks.push_back(fmt::format("{}, rank {}: {}", worker.url, rank, text));
  return proof;
}

}  // namespace

std::string WorkerExpectation::FullDisk() const {
  if (room_bytes && *room_bytes < kNoRoom)
    return fmt::format("the disk that it writes to is full ({} kB are free)", *room_bytes >> 10);
  // Of its own temporary files, perhaps.
  if (log_failure.find("No space left") != std::string::npos)
    return "a disk of it is full; its log says: " + log_failure;
  return "";
}

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
  std::vector<Held> held_by;
  std::vector<Shape> shapes;
  for (const WorkerExpectation& worker : workers) {
    held_by.push_back(HeldBy(workers, worker, traces, used));
    shapes.push_back(ShapeOf(worker, held_by.back()));
  }
  const auto known =
      std::find_if(shapes.begin(), shapes.end(), [](const Shape& s) { return s.told; });
  for (size_t w = 0; w < workers.size(); ++w) {
    const WorkerExpectation& worker = workers[w];
    const Held& held = held_by[w];
    // Workers of one deployment are alike: one of which nothing is known counts as the others do.
    const Shape shape = shapes[w].told || known == shapes.end() ? shapes[w] : *known;
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
      for (size_t i = 0; i < engines.size(); ++i) {
        if (i < of_rank.size())
          proof.ranks.push_back(ProveRank(worker, engines[i], rank, *of_rank[i], proof.remarks));
        else
          proof.ranks.push_back({.worker_url = worker.url,
                                 .engine = engines[i],
                                 .rank = rank,
                                 .paths = {},
                                 .steps = {},
                                 .proven = false,
                                 .why = NoFileBecause(worker, engines[i], rank, traces)});
      }
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
