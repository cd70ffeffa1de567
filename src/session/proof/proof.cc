#include "session/proof/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "session/proof/proof_causes.h"

namespace tacho {
namespace {

bool Shares(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](int64_t pid) { return std::find(b.begin(), b.end(), pid) != b.end(); });
}

// Whether another worker's process wrote the trace. (A pid that no worker knows may be a number
// inside a container, and proves nothing.)
bool OfAnother(const std::vector<WorkerExpectation>& workers, const WorkerExpectation& worker,
               const TraceEvidence& trace) {
  if (Shares(worker.pids, trace.pids)) return false;
  return std::any_of(workers.begin(), workers.end(), [&](const WorkerExpectation& other) {
    return Shares(other.pids, trace.pids);
  });
}

// One worker's files that belong to ranks, by (rank, process). The process is needed because each
// data-parallel engine writes "rank 0 of 1".
using Held = std::map<std::pair<int64_t, int64_t>, std::vector<const TraceEvidence*>>;

// The traces of the processes that run the engine's ranks, without those of its other processes,
// which an nsys report also holds. Keeps the processes with GPU work, else those with steps, else
// the busiest ones.
std::vector<const TraceEvidence*> RanksAmong(const WorkerExpectation& worker,
                                             std::vector<const TraceEvidence*> traces) {
  const auto keep = [&](const auto& does) {
    if (std::ranges::any_of(traces, does))
      std::erase_if(traces, [&](const TraceEvidence* trace) { return !does(trace); });
  };
  keep([](const TraceEvidence* trace) { return trace->gpu_events > 0; });
  keep([](const TraceEvidence* trace) { return trace->steps.value_or(0) > 0; });
  std::ranges::stable_sort(traces, std::ranges::greater(), &TraceEvidence::events);
  const auto most = static_cast<size_t>(std::max(1, worker.facts.ExpectedRanks().value_or(1)));
  if (traces.size() > most && traces.front()->gpu_events == 0) traces.resize(most);
  return traces;
}

// nsys knows processes, but no ranks. Processes that do not name their rank are numbered in the
// order of their pids, in which engines start them.
void AddRanksOfNsys(const WorkerExpectation& worker, const std::vector<TraceEvidence>& traces,
                    Held& held, std::set<std::string>& used) {
  std::vector<const TraceEvidence*> own;
  for (const TraceEvidence& trace : traces)
    if (!used.contains(trace.path) && worker.Brought(trace.path) && !trace.idle &&
        Shares(worker.pids, trace.pids) && InWindow(worker, trace))
      own.push_back(&trace);
  own = RanksAmong(worker, std::move(own));
  std::ranges::sort(own, {}, [](const TraceEvidence* trace) { return trace->pids.front(); });
  const bool alike = worker.facts.data_parallel.value_or(1) > 1;
  for (size_t i = 0; i < own.size(); ++i) {
    held[{own[i]->rank.value_or(alike ? 0 : static_cast<int64_t>(i)), own[i]->pids.front()}] = {
        own[i]};
    used.insert(own[i]->path);
  }
}

Held HeldBy(const std::vector<WorkerExpectation>& workers, const WorkerExpectation& worker,
            const std::vector<TraceEvidence>& traces, std::set<std::string>& used) {
  Held held;
  if (worker.one_report) {
    AddRanksOfNsys(worker, traces, held, used);
    return held;
  }
  for (const TraceEvidence& trace : traces) {
    if (used.contains(trace.path) || trace.front_end || trace.merged) continue;
    if (!worker.Brought(trace.path) || !InWindow(worker, trace) ||
        OfAnother(workers, worker, trace))
      continue;
    if (worker.idle_processes_write && trace.idle && !trace.rank) continue;
    int64_t process = trace.pids.empty() ? 0 : trace.pids.front();
    held[{trace.rank.value_or(0), process}].push_back(&trace);
    used.insert(trace.path);
  }
  return held;
}

// The number of ranks in one engine, and of engines in one server: as the engine reports them, else
// as the files show.
struct Shape {
  int64_t ranks = 1, engines = 1;
  bool known = true;  // false: neither the engine nor any file shows them
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
  shape.known = facts.tensor_parallel || !held.empty();
  // With expert parallelism all engines form one world, and each rank's number is unique in it.
  if (world == shape.ranks * shape.engines && shape.engines > 1) {
    shape.ranks = world;
    shape.engines = 1;
  }
  return shape;
}

// The rank's identity, from its files and from what is known about its engine.
RankIdentity IdentityOf(const WorkerExpectation& worker, const EngineFacts& facts,
                        const Shape& shape, int64_t engine, int64_t rank,
                        const std::vector<const TraceEvidence*>& traces) {
  RankIdentity identity;
  // Only the file itself can show which data-parallel engine wrote it.
  if (traces.empty())
    identity.data_parallel = engine;
  else
    identity = traces.front()->identity;
  identity.worker = worker.name;
  identity.stage.clear();
  identity.rank = rank;
  identity.world_size = shape.ranks;
  if (const auto tensor = facts.tensor_parallel; tensor && *tensor > 0) {
    identity.tensor = rank % *tensor;
    identity.pipeline = rank / *tensor;
  }
  return identity;
}

std::optional<Finding> LossOf(const TraceEvidence& trace) {
  if (trace.loss.empty()) return std::nullopt;
  return Finding{FindingId::kRowsMissing, trace.path, trace.loss};
}

// `traces`: the files of this rank.
RankProof ProveRank(const WorkerExpectation& worker, int64_t engine, int64_t rank,
                    const std::vector<const TraceEvidence*>& traces,
                    const std::vector<TraceEvidence>& all_traces) {
  RankProof proof;
  proof.worker_url = worker.url;
  proof.engine = engine;
  proof.rank = rank;
  if (!worker.trouble && worker.given_up) {
    for (const TraceEvidence* trace : traces) proof.paths.push_back(trace->path);
    std::sort(proof.paths.begin(), proof.paths.end());
    proof.why = worker.given_up;
    proof.follows = true;
    return proof;
  }
  if (traces.empty()) {
    proof.why = NoFileBecause(worker, engine, rank, all_traces);
    return proof;
  }
  uint64_t steps = 0;
  bool steps_named = false;
  for (const TraceEvidence* trace : traces) {
    proof.paths.push_back(trace->path);
    steps += trace->steps.value_or(0);
    steps_named |= trace->steps.has_value();
    if (worker.by_stage && !trace->stage.empty())
      proof.steps_of_stages[trace->stage] += trace->steps.value_or(0);
  }
  std::sort(proof.paths.begin(), proof.paths.end());
  if (steps_named && worker.steps_named) proof.steps = steps;
  proof.why = Objection(worker, engine, traces, steps, steps_named);
  proof.proven = !proof.why;
  if (proof.proven && proof.steps) proof.remark = LeavesOut(worker, engine, traces, steps);
  if (proof.proven && !steps_named) proof.remark = NamesNoStep(worker, engine, traces);
  for (const TraceEvidence* trace : traces)
    if (proof.proven && !proof.loss) proof.loss = LossOf(*trace);
  return proof;
}

// The files with this rank number, one list for each process, the busiest process first. No file
// says which of the server's engines its process belongs to, so the busiest process is assigned to
// the busiest engine, and so on.
std::vector<std::vector<const TraceEvidence*>> FilesOfRank(const Held& held, int64_t rank) {
  std::vector<std::vector<const TraceEvidence*>> of_rank;
  for (const auto& [key, files] : held)
    if (key.first == rank) of_rank.push_back(files);
  const auto steps_of = [](const std::vector<const TraceEvidence*>& files) {
    uint64_t steps = 0;
    for (const TraceEvidence* file : files) steps += file->steps.value_or(0);
    return steps;
  };
  std::stable_sort(of_rank.begin(), of_rank.end(),
                   [&](const auto& a, const auto& b) { return steps_of(a) > steps_of(b); });
  return of_rank;
}

// Proves all ranks of one worker, by engine and rank. `facts` and `shape` are the worker's own or,
// if nothing is known about it, those of another worker.
void ProveWorker(const WorkerExpectation& worker, const EngineFacts& facts, const Shape& shape,
                 const Held& held, const std::vector<TraceEvidence>& traces, Proof& proof) {
  const size_t first = proof.ranks.size();
  std::vector<int64_t> engines;  // the busiest first
  for (int64_t engine = 0; engine < shape.engines; ++engine) engines.push_back(engine);
  std::stable_sort(engines.begin(), engines.end(), [&](int64_t a, int64_t b) {
    return worker.StepsOf(a).value_or(0) > worker.StepsOf(b).value_or(0);
  });
  for (int64_t rank = 0; rank < shape.ranks; ++rank) {
    std::vector<std::vector<const TraceEvidence*>> of_rank = FilesOfRank(held, rank);
    for (size_t i = engines.size(); i < of_rank.size(); ++i)
      for (const TraceEvidence* file : of_rank[i]) proof.extra.push_back(file->path);
    of_rank.resize(engines.size());
    for (size_t i = 0; i < engines.size(); ++i) {
      proof.ranks.push_back(ProveRank(worker, engines[i], rank, of_rank[i], traces));
      proof.ranks.back().identity = IdentityOf(worker, facts, shape, engines[i], rank, of_rank[i]);
    }
  }
  std::sort(proof.ranks.begin() + static_cast<std::ptrdiff_t>(first), proof.ranks.end(),
            [](const RankProof& a, const RankProof& b) {
              return std::tie(a.engine, a.rank) < std::tie(b.engine, b.rank);
            });
}

void DisproveThoseApart(const std::vector<WorkerExpectation>& workers,
                        const std::vector<TraceEvidence>& traces, Proof& proof) {
  std::vector<RankProof*> ranks;
  std::vector<RankFiles> files;
  for (RankProof& rank : proof.ranks) {
    if (!rank.proven) continue;
    ranks.push_back(&rank);
    RankFiles& of_rank = files.emplace_back();
    of_rank.worker = &*std::ranges::find(workers, rank.worker_url, &WorkerExpectation::url);
    for (const TraceEvidence& trace : traces)
      if (std::ranges::find(rank.paths, trace.path) != rank.paths.end())
        of_rank.traces.push_back(&trace);
  }
  std::vector<std::optional<Finding>> findings = ApartFromOthers(files);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!findings[i]) continue;
    ranks[i]->why = std::move(findings[i]);
    ranks[i]->proven = false;
    ranks[i]->remark.reset();
    ranks[i]->loss.reset();
  }
}

}  // namespace

std::string RankProof::Who() const {
  const bool engine_named = engine == 0 || identity.data_parallel;
  return fmt::format("{}{} ({})", identity.RankName(),
                     engine_named ? "" : fmt::format(", engine {}", engine), worker_url);
}

size_t Proof::Incomplete() const {
  return static_cast<size_t>(
      std::ranges::count_if(ranks, [](const RankProof& rank) { return rank.loss.has_value(); }));
}

std::vector<Finding> Proof::Missing() const {
  std::vector<Finding> missing;
  for (const bool follows : {false, true})
    for (const RankProof& rank : ranks)
      if (rank.why && rank.follows == follows) missing.push_back(*rank.why);
  return missing;
}

Proof Prove(const std::vector<WorkerExpectation>& workers, std::vector<TraceEvidence> traces) {
  std::sort(traces.begin(), traces.end(),
            [](const TraceEvidence& a, const TraceEvidence& b) { return a.path < b.path; });
  // An nsys report without NVTX names no steps.
  for (TraceEvidence& trace : traces)
    if (trace.steps.value_or(0) == 0 && trace.empty_steps == 0 &&
        std::ranges::any_of(workers, [&](const WorkerExpectation& worker) {
          return worker.one_report && worker.Brought(trace.path);
        }))
      trace.steps.reset();
  Proof proof;
  std::set<std::string> used;
  std::vector<Held> held_by;
  std::vector<Shape> shapes;
  for (const WorkerExpectation& worker : workers) {
    held_by.push_back(HeldBy(workers, worker, traces, used));
    shapes.push_back(ShapeOf(worker, held_by.back()));
  }
  const auto known =
      std::find_if(shapes.begin(), shapes.end(), [](const Shape& s) { return s.known; });
  for (size_t w = 0; w < workers.size(); ++w) {
    const WorkerExpectation& worker = workers[w];
    // The workers of a deployment are alike: a worker of unknown shape gets the shape of a known
    // one.
    const size_t like =
        shapes[w].known || known == shapes.end() ? w : static_cast<size_t>(known - shapes.begin());
    ProveWorker(worker, workers[like].facts, shapes[like], held_by[w], traces, proof);
  }
  DisproveThoseApart(workers, traces, proof);
  std::vector<RankIdentity*> identities;
  for (RankProof& rank : proof.ranks) identities.push_back(&rank.identity);
  LeaveOutSingles(identities);
  for (RankProof& rank : proof.ranks) {
    if (rank.why) rank.why->subject = rank.Who();
    for (std::optional<Finding>* remark : {&rank.remark, &rank.loss}) {
      if (!*remark) continue;
      (*remark)->subject = rank.Who();
      proof.remarks.push_back(**remark);
    }
  }
  for (const TraceEvidence& trace : traces) {
    if (used.contains(trace.path)) continue;
    const auto owner =
        std::find_if(workers.begin(), workers.end(), [&](const WorkerExpectation& worker) {
          return worker.Brought(trace.path) && InWindow(worker, trace);
        });
    (owner != workers.end() ? proof.extra : proof.foreign).push_back(trace.path);
    if (owner == workers.end()) continue;
    for (const std::optional<Finding>& found : {DamageOf(*owner, trace), LossOf(trace)})
      if (found) proof.remarks.push_back(*found);
  }
  std::sort(proof.extra.begin(), proof.extra.end());
  proof.complete = !proof.ranks.empty() && std::ranges::all_of(proof.ranks, &RankProof::proven) &&
                   std::ranges::none_of(proof.remarks, &Finding::IsTrouble);
  return proof;
}

}  // namespace tacho
