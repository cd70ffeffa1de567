#include "analysis/analyze.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "analysis/device/missing_work.h"
#include "analysis/evidence/recorded_part.h"
#include "analysis/index/arg_reader.h"
#include "analysis/index/name_index.h"
#include "analysis/ranks/folder_workers.h"
#include "analysis/ranks/identity.h"
#include "analysis/ranks/recordings.h"
#include "analysis/ranks/run_clock.h"
#include "analysis/roofline/gemm_roofs.h"
#include "base/parallel.h"
#include "model/producer_line.h"

namespace tacho {
namespace {

// A slice that was still open when the profiler stopped has "finished": false. Its recorded end is
// only the time of the stop.
void NoteUnfinished(const Trace& trace, Notes& notes) {
  const ArgReader finished(trace, "finished");
  if (!finished.anywhere()) return;
  for (const SliceTable* table : {static_cast<const SliceTable*>(&trace.host_ops),
                                  &trace.annotations, &trace.python_frames}) {
    for (size_t row = 0; row < table->size(); ++row) {
      if (trace.Text(finished.Text({table->args[row]})) != "false") continue;
      notes.Add(NoteId::kUnfinishedSpan, trace.Text(table->name[row]));
    }
  }
}

std::string Place(const Trace& trace, size_t gpu_row) {
  const Stream& stream = trace.words[trace.gpu.stream[gpu_row]];
  return "device " + std::string(trace.Text(stream.device)) + ", stream " +
         std::string(trace.Text(stream.stream)) + ", " +
         std::to_string(trace.gpu.start[gpu_row].ns) + " ns";
}

void NoteOrphans(const Trace& trace, const LaunchLinks& links, Notes& notes) {
  if (trace.host_calls.size() == 0) return;  // no calls: facts.cannot_tell reports it
  size_t orphans = 0, first = 0;
  for (size_t row = 0; row < links.call_of_gpu.size(); ++row) {
    // GPU work without a correlation id does not tell which call launched it.
    if (links.call_of_gpu[row] != LaunchLinks::kNone || trace.gpu.correlation[row] < 0) continue;
    if (orphans == 0 || trace.gpu.start[row] < trace.gpu.start[first]) first = row;
    ++orphans;
  }
  if (orphans > 0) notes.Add(NoteId::kOrphanGpuEvents, Place(trace, first), orphans);
}

std::string PlaceOf(const LostWork& lost) {
  return lost.apis.front().name + ", " + std::to_string(lost.first.ns) + " ns";
}

// `knows_idle_time`: whether it is known when all devices in the scope were idle.
void NoteIntegrity(const Trace& trace, const Integrity& integrity, bool knows_idle_time,
                   Notes& notes) {
  const LostWork& lost = integrity.lost;
  if (lost.any()) {
    notes.Add(lost.at_edges() ? NoteId::kLostAtEdge : NoteId::kLostGpuWork, PlaceOf(lost),
              lost.lost_calls + lost.partial_graphs);
  } else if (lost.cut_off > 0 && integrity.device_times() && !knows_idle_time) {
    notes.Add(NoteId::kCutOffWork, "", lost.cut_off);
  }
  const RecorderStops& stops = integrity.stops;
  // A file that ends early lacks its last rows, and these need not be the latest in time.
  if (stops.any() && !notes.ends_early())
    notes.Add(NoteId::kRecorderStopped, stops.witness, stops.before + stops.after);
  for (const DeviceClock& clock : integrity.clocks) {
    if (clock.state == DeviceClock::State::kRight || !integrity.device_times()) continue;
    notes.Add(NoteId::kDeviceClock, "device " + clock.device,
              std::max<uint64_t>(1, clock.before_launch + clock.after_wait));
  }
  if (integrity.impossible.count() > 0) {
    notes.Add(integrity.device_times() ? NoteId::kImpossibleOrder : NoteId::kTimesRefused,
              Place(trace, integrity.impossible.first), integrity.impossible.count());
  }
}

// Adds a note for each event whose duration overflowed. Such an event seems to overlap all work
// after it on its stream. But real work overlaps on one stream too, because a kernel may start
// early (programmatic launch) or branches of a graph may share the stream. So an event counts as
// overflowed only if it covers several pieces of work of other launches and most of these are far
// shorter.
void NoteLongOverlaps(const TrackIndex& index, Notes& notes) {
  constexpr size_t kCovered = 3;
  constexpr int64_t kTimesMedian = 100;
  constexpr DurationNs kLeast{1'000'000};
  constexpr size_t kMostLookedAt = 1000;
  const Trace& trace = index.trace();
  const GpuTable& gpu = trace.gpu;
  for (size_t stream = 0; stream < index.gpu().lanes(); ++stream) {
    const RowList rows = index.gpu().Of(stream);
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t duration = gpu.duration[rows[i]];
      if (duration < kLeast.ns) continue;
      const int64_t correlation = gpu.correlation[rows[i]];
      size_t covered = 0, far_shorter = 0;
      for (size_t k = i + 1; k < rows.size() && k - i <= kMostLookedAt; ++k) {
        if (gpu.start[rows[k]] >= gpu.When(rows[i]).end) break;
        if (correlation >= 0 && gpu.correlation[rows[k]] == correlation) continue;
        ++covered;
        if (gpu.duration[rows[k]] < duration / kTimesMedian) ++far_shorter;
      }
      if (covered > kCovered && far_shorter > covered / 2) {
        notes.Add(NoteId::kLongOverlap, Place(trace, rows[i]));
      }
    }
  }
}

// Whether `is_sign` accepts no name in `table`.
template <typename IsSign>
bool HasNone(const Trace& trace, const auto& table, IsSign is_sign) {
  NameIndex names(trace);
  for (size_t row = 0; row < table.size(); ++row) names[table.name[row]];
  return std::ranges::none_of(names.names(),
                              [&](StringId name) { return is_sign(trace.Text(name)); });
}

// Whether the trace is of an engine's worker that ran no step. Old engine versions do not annotate
// their steps; in their traces, operators and launches are the signs of a step.
bool TookNoStep(const Trace& trace, const TraceFacts& facts, const Classifier& classifier) {
  if (facts.role != TraceRole::kWorker || facts.engine.empty() || trace.gpu.size() > 0 ||
      trace.notes.lost_data()) {
    return false;
  }
  const StepTable steps = FindSteps(trace);
  // nsys shows steps only through NVTX ranges. A trace without steps is conclusive only for
  // SGLang's scheduler, which also writes ranges while it is idle.
  if (trace.header.format == TraceFormat::kNsys && steps.steps.empty() &&
      HasNone(trace, trace.annotations,
              [](std::string_view name) { return name == "scheduler.recv_requests"; }))
    return false;
  return std::ranges::all_of(steps.steps,
                             [](const Step& step) { return step.label.phase == Phase::kEmpty; }) &&
         HasNone(trace, trace.host_calls, LaunchesWork) &&
         HasNone(trace, trace.host_ops,
                 [&](std::string_view name) { return IsOfAStep(name, classifier); });
}

// Whether the integrity of the trace can be judged. Not for a capture, because its launches never
// have work. Not for a file of mixed ranks, because it does not tell which work belongs to which
// rank.
bool JudgesIntegrity(const TraceFacts& facts) {
  return !facts.mixed_ranks && facts.role != TraceRole::kCapture;
}

Notes NotesOf(const PreparedTrace& prepared, const TraceFacts& facts, const Classifier& classifier,
              const Scope& scope) {
  const Trace& trace = prepared.index.trace();
  Notes notes = trace.notes;
  RecordedWork recorded = WorkOf(trace);
  recorded.no_engine_step = TookNoStep(trace, facts, classifier);
  recorded.no_rank = !IsRank(facts.role);
  NoteMissingWork(recorded, trace, prepared.work.on_host, notes);
  if (JudgesIntegrity(facts))
    NoteIntegrity(trace, prepared.integrity, KnowsIdleTime(prepared, scope), notes);
  NoteOrphans(trace, prepared.links, notes);
  NoteLongOverlaps(prepared.index, notes);
  NoteProducerLines(trace.header, notes);
  notes.Add(NoteId::kMixedRanks, "", facts.mixed_ranks ? 1 : 0);
  NoteUnfinished(trace, notes);
  return notes;
}

// For a trace with mixed ranks: keeps what describes the trace and drops all figures.
TraceAnalysis WithoutFigures(TraceAnalysis whole) {
  TraceAnalysis analysis;
  analysis.header = std::move(whole.header);
  analysis.facts = std::move(whole.facts);
  analysis.span = whole.span;
  analysis.counts = std::move(whole.counts);
  analysis.scope = std::move(whole.scope);
  analysis.notes = std::move(whole.notes);
  return analysis;
}

// Places each trace on the run's clock. `inputs` has one entry for each trace.
void PlaceTraces(const std::vector<RankInput>& inputs, RunAnalysis& run) {
  run.clocks = ClocksOf(inputs);
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const auto to_run = run.clocks.Between({ClockOf::kTrace, i}, {ClockOf::kRun});
    run.traces[i].run_start =
        to_run ? to_run->Convert(inputs[i].span.start) - TimeNs{} : DurationNs{};
  }
}

// What needs the layers of the steps.
void AddModel(const PreparedTrace& prepared, const Scope& scope, TraceAnalysis& analysis) {
  const LayeredSteps steps = LayersOfSteps(prepared);
  analysis.layers = FindLayers(prepared, steps);
  analysis.opportunities = FindOpportunities(prepared, steps, analysis.layers);
  analysis.speculation = FindSpeculation(prepared, steps);
  analysis.graphs = TabulateReplays(prepared, scope, steps);
}

void AddSources(const PreparedTrace& prepared, const SourcesAsked& sources,
                TraceAnalysis& analysis) {
  if (!sources.asked) return;
  analysis.source_map = std::make_shared<const SourceMap>(MapSources(prepared));
  analysis.sources = FindSources(prepared, sources.map ? *sources.map : *analysis.source_map);
  analysis.sources.map = sources.path;
}

// After the operators, the facts and the layers.
void AddRoofline(const PreparedTrace& prepared, const AnalysisOptions& options,
                 TraceAnalysis& analysis) {
  RooflineSetup setup = options.roofline;
  const RankIdentity identity = IdentityOf(options.path, analysis.facts);
  setup.other_groups = identity.data_parallel.has_value() || identity.pipeline.has_value();
  setup.stage = identity.pipeline;
  const bool divides = setup.stages.value_or(1) > 1 && setup.tensor_ranks.value_or(0) > 0;
  if (!setup.stage && !identity.data_parallel && identity.rank && divides)
    setup.stage = *identity.rank / *setup.tensor_ranks;
  analysis.roofline = RooflineOf(prepared, analysis.layers, setup);
  if (!prepared.integrity.device_times()) analysis.ops.gemms.clear();
  if (const auto gpu = setup.gpu ? setup.gpu : AcceleratorOf(analysis.header))
    AddGemmRoofs(*gpu, analysis.ops.gemms);
  analysis.layers.as_configured = analysis.roofline.wanted() &&
                                  analysis.layers.state == LayersState::kFound &&
                                  analysis.layers.count == analysis.roofline.layers;
}

}  // namespace

TraceAnalysis AnalyzeTrace(const PreparedTrace& prepared, const Classifier& classifier,
                           const AnalysisOptions& options) {
  const Scope& scope = options.scope;
  const Trace& trace = prepared.index.trace();
  TraceAnalysis analysis;
  analysis.header = trace.header;
  analysis.span = trace.span;
  analysis.profiled = trace.profiled;
  analysis.counts = trace.counts;
  analysis.scope = scope;
  analysis.integrity = prepared.integrity;
  analysis.steps = prepared.steps;
  std::vector<IdleStretch> idle;  // for the step profile
  if (options.step_profile) {
    size_t items = 0;
    for (const DeviceItems& device : prepared.work.devices) items += device.items.size();
    idle.reserve(items);  // about one stretch for each pair of neighboring items
  }
  std::optional<DigestBuilder> digest;
  if (options.digest) digest.emplace(prepared, scope);
  const OnStretch on_idle = [&](const IdleStretch& stretch) {
    if (digest) digest->AddIdle(stretch);
    if (options.step_profile) idle.push_back(stretch);
  };
  // The jobs run in parallel, so no two of them write to the same member.
  RunAll({[&] {
            analysis.ops = TabulateOps(prepared.index, prepared.links, scope);
            if (options.key_averages)
              analysis.ops.key_averages = AverageByKey(prepared.index, prepared.links, scope);
          },
          [&] {
            const InFlight* in_flight = options.in_flight ? &*options.in_flight : nullptr;
            analysis.idle = IdleOf(prepared, scope, in_flight, kListedGaps,
                                   digest || options.step_profile ? on_idle : OnStretch{});
          },
          [&] {
            analysis.launches = TabulateLaunches(trace, prepared.links, scope);
            if (!prepared.integrity.common_clock()) ForgetDelays(analysis.launches);
          },
          [&] { analysis.devices = DeviceTimesOf(prepared, scope); },
          [&] { AddModel(prepared, scope, analysis); },
          [&] { AddSources(prepared, options.sources, analysis); },
          [&] { analysis.kernels = TabulateKernels(trace, prepared.work, classifier, scope); },
          [&] {
            analysis.facts = GatherFacts(trace, options.path);
            analysis.notes = NotesOf(prepared, analysis.facts, classifier, scope);
          },
          [&] {
            analysis.copies = TabulateCopies(trace, scope);
            analysis.memory = TabulateMemory(prepared.index, scope);
          }},
         options.threads);
  AddRoofline(prepared, options, analysis);
  if (analysis.facts.mixed_ranks) return WithoutFigures(std::move(analysis));
  if (digest)
    analysis.digest =
        std::make_shared<const TraceDigest>(std::move(*digest).Finish(analysis.idle.known));
  if (!JudgesIntegrity(analysis.facts)) analysis.integrity = {};
  if (options.step_profile && analysis.idle.known)
    analysis.step_profile = ProfileSteps(prepared, idle, analysis.kernels, scope, options.threads);
  return analysis;
}

TraceAnalysis AnalyzeTrace(const Trace& trace, const Classifier& classifier,
                           const AnalysisOptions& options) {
  return AnalyzeTrace(Prepare(trace, classifier, options.scope, options.threads), classifier,
                      options);
}

std::vector<RankInput> RankInputsOf(RunAnalysis& run) {
  std::vector<RankIdentity*> identities;
  std::vector<TraceOfWorker> of_workers;
  std::vector<RankInput> inputs;
  for (TraceAnalysis& trace : run.traces) {
    trace.facts.stage = StageOf(trace.path, trace.steps);
    trace.facts.identity = IdentityOf(trace.path, trace.facts);
    RankInput input;
    input.path = trace.path;
    input.facts = &trace.facts;
    input.devices = &trace.devices;
    if (trace.header.base_time_ns >= 0) input.base_time_ns = trace.header.base_time_ns;
    input.span = trace.span;
    if (trace.facts.role == TraceRole::kWorker) {
      identities.push_back(&trace.facts.identity);
      of_workers.push_back({trace.path, UnixTimeOf(input), identities.back()});
    }
    input.steps = trace.steps.steps.size();
    input.complete = !trace.notes.lost_data();
    for (const DeviceTime& device : trace.devices) input.kernel_sum += device.kernel_sum;
    input.trace_id = trace.header.trace_id;
    std::set<std::string> gpus;
    for (const DeviceProperties& gpu : trace.header.devices) gpus.insert(gpu.name);
    for (const std::string& name : gpus) {
      if (!name.empty()) input.gpus += (input.gpus.empty() ? "" : ", ") + name;
    }
    for (const SlicesTogether& slices : run.together) {
      if (std::ranges::find(slices.paths, trace.path) != slices.paths.end()) {
        input.together = &slices.devices;
      }
    }
    inputs.push_back(std::move(input));
  }
  NameWorkersByFolder(of_workers);
  LeaveOutSingles(identities);
  return inputs;
}

void AnalyzeRun(RunAnalysis& run, bool whole) {
  // Removes those of left-out ranks.
  std::erase_if(run.together, [&](const SlicesTogether& slices) {
    return std::ranges::find(run.traces, slices.paths.front(), &TraceAnalysis::path) ==
           run.traces.end();
  });
  const std::vector<RankInput> inputs = RankInputsOf(run);
  PlaceTraces(inputs, run);
  run.ranks = CompareRanks(inputs);
  run.ranks.has_others = !run.ranks.missing.empty();
  if (!whole) run.ranks.missing.clear();
  if (run.traces.size() > 1) {
    const std::vector<CommRank> all = CommRanksOf(run);
    std::vector<CommRank> ranks;
    DigestsOfRanks digests;
    for (const RankRow& row : run.ranks.rows) {
      ranks.push_back(all[row.input]);
      digests.push_back(run.traces[row.input].digest.get());
    }
    run.ranks.blame = BlameRanks(ranks, digests);
    if (run.ranks.blame.absent == RankBlame::Absent::kNoEvents &&
        std::ranges::all_of(run.ranks.rows, [&](const RankRow& row) {
          const std::vector<DeviceTime>& devices = run.traces[row.input].devices;
          return !devices.empty() && devices.front().on_host;
        }))
      run.ranks.blame.absent = RankBlame::Absent::kOnHost;
  }
  // A single trace has nothing to compare with.
  if (run.traces.size() < 2 && run.ranks.missing.empty()) run.ranks = {};
}

std::vector<CommRank> CommRanksOf(const RunAnalysis& run) {
  std::vector<CommRank> ranks(run.traces.size());
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    const TraceAnalysis& trace = run.traces[i];
    const auto to_run = run.clocks.Between({ClockOf::kTrace, i}, {ClockOf::kRun});
    if (!trace.digest || !to_run || trace.facts.role != TraceRole::kWorker) continue;
    if (!trace.integrity.device_times()) continue;  // such times would not match another rank's
    ranks[i] = {trace.facts.identity, to_run->shift, trace.digest->communication};
  }
  return ranks;
}

Interval TraceAnalysis::recorded() const {
  Interval work;
  for (const DeviceTime& device : devices) {
    if (device.window.empty()) continue;
    work = work.empty() ? device.window
                        : Interval{std::min(work.start, device.window.start),
                                   std::max(work.end, device.window.end)};
  }
  return RecordedPart(integrity, span, work);
}

bool IsSameTrace(const TraceAnalysis& a, const TraceAnalysis& b) {
  return a.header.base_time_ns == b.header.base_time_ns && a.header.trace_id == b.header.trace_id &&
         a.span == b.span && a.counts.total == b.counts.total && a.scope.Overlaps(b.scope);
}

bool ShareWork(const RunAnalysis& a, const RunAnalysis& b) {
  return std::ranges::any_of(a.traces, [&](const TraceAnalysis& trace) {
    return std::ranges::any_of(
        b.traces, [&](const TraceAnalysis& other) { return IsSameTrace(trace, other); });
  });
}

std::vector<const TraceAnalysis*> RanksOf(const RunAnalysis& run) {
  for (const TraceRole role : {TraceRole::kWorker, TraceRole::kMerged}) {
    std::vector<const TraceAnalysis*> traces;
    for (const TraceAnalysis& trace : run.traces) {
      if (trace.facts.role == role) traces.push_back(&trace);
    }
    if (!traces.empty()) return traces;
  }
  return {};
}

std::vector<const TraceAnalysis*> TimedRanksOf(const RunAnalysis& run) {
  return TimedOf(RanksOf(run));
}

std::vector<const TraceAnalysis*> TimedOf(std::vector<const TraceAnalysis*> ranks) {
  const auto has_time = [](const TraceAnalysis* trace) { return !trace->devices.empty(); };
  if (std::ranges::any_of(ranks, has_time)) std::erase_if(ranks, std::not_fn(has_time));
  return ranks;
}

}  // namespace tacho
