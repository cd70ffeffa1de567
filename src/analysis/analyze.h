#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/device/copies.h"
#include "analysis/device/device_time.h"
#include "analysis/device/idle.h"
#include "analysis/device/kernels.h"
#include "analysis/device/launches.h"
#include "analysis/device/memory.h"
#include "analysis/facts.h"
#include "analysis/host/ops.h"
#include "analysis/layers/layer_table.h"
#include "analysis/names/classifier.h"
#include "analysis/prepared_trace.h"
#include "analysis/ranks/digest.h"
#include "analysis/ranks/ranks.h"
#include "analysis/requests/request_analysis.h"
#include "analysis/steps/step_profile.h"
#include "analysis/steps/steps.h"
#include "model/clocks.h"
#include "model/trace.h"

namespace tacho {

// Everything that `tacho analyze` knows about one trace: the input of every report.
struct TraceAnalysis {
  // As given; "ARCHIVE:MEMBER" in an archive, "FILE#pid=7" for one of several traces in a file.
  std::string path;
  uint64_t bytes = 0;       // of the file (or archive member) as stored
  uint64_t json_bytes = 0;  // after decompression
  // False: another trace of the run already counts the bytes of this file.
  bool first_of_file = true;
  std::string results;  // the results file it was read back from; "": none
  TraceHeader header;
  TraceFacts facts;
  Interval span;      // of what happened
  Interval profiled;  // when the profiler ran, as it says itself; empty if it does not
  // Time of the first event on the run's clock (run_clock.h), as on the page of `tacho view`.
  // AnalyzeRun sets it; 0 for a single trace, and if the trace cannot be placed.
  DurationNs run_start = {};
  EventCounts counts;
  Notes notes;
  Integrity integrity;
  Scope scope;
  std::vector<DeviceTime> devices;
  KernelTable kernels;
  CopyTable copies;
  LaunchTable launches;
  OpTable ops;
  MemoryTable memory;  // empty unless it was recorded
  StepTable steps;
  StepProfile step_profile;  // empty unless AnalysisOptions wants it
  LayerTable layers;
  IdleTable idle;
  // Null unless AnalysisOptions asks for it, and if results were read back.
  std::shared_ptr<const TraceDigest> digest;

  // The zero of the run's clock, as a time of the trace.
  [[nodiscard]] TimeNs run_zero() const { return span.start - run_start; }
  // The part of `span` in which the work of devices was recorded.
  [[nodiscard]] Interval recorded() const;
};

// Slices of one recording that overlap in time, analyzed as one: their windows cannot be added.
struct SlicesTogether {
  std::vector<std::string> paths;
  std::vector<DeviceTime> devices;
  IdleTable idle;
};

struct RunRequests;

// A run: one or many traces, sorted by path, and the table over its ranks.
struct RunAnalysis {
  std::vector<TraceAnalysis> traces;
  std::vector<SlicesTogether> together;
  // The clocks of the traces, by index, and of the run. AnalyzeRun sets them.
  ClockMap clocks;
  RankTable ranks;           // for a single trace, filled only if other ranks are missing
  RequestAnalysis requests;  // AnalyzeRequests sets it; empty without requests
  std::shared_ptr<const RunRequests> joined = {};  // what `requests` is computed from; may be null
  std::vector<std::string> skipped;  // files that are not in `traces`, each "PATH: why"
  // Traces whose work another trace holds too. `what` says what each one is ("a copy of PATH").
  // They are in `skipped`, too.
  struct Copy {
    std::string path, what;
  };
  std::vector<Copy> copies;
  std::vector<std::string> failed;  // the entries of `skipped` that could not be read
  // Recordings of graph capture in a folder beside the traces; they are not read.
  std::vector<std::string> captures;
  // A sentence for each rank whose trace `tacho record` could not prove; empty if only a part of
  // the run was asked for.
  std::vector<std::string> unproven;
};

struct AnalysisOptions {
  Scope scope;
  std::optional<InFlight> in_flight = {};  // absent: unknown
  std::string_view path = {};              // of the file; its name may say what the trace is
  bool key_averages = true;                // OpTable::key_averages, which costs as much as the rest
  bool step_profile = false;
  bool digest = false;
  size_t threads = 1;  // independent analyses run at once; the result is the same
};
// Runs every analysis over one trace, which was prepared for the same scope. Adds the notes that
// only analysis can see (orphans, long overlaps, no GPU events). The strings in the result are
// copies: the trace may go.
TraceAnalysis AnalyzeTrace(const PreparedTrace& prepared, const Classifier& classifier,
                           const AnalysisOptions& options = {});
TraceAnalysis AnalyzeTrace(const Trace& trace, const Classifier& classifier,
                           const AnalysisOptions& options = {});
// The traces as the analyses of a run see them. They point into `run`. Sets the stages in `run`,
// too.
std::vector<RankInput> RankInputsOf(RunAnalysis& run);
// Fills `ranks` from `traces`. `whole`: `traces` are all traces of the run, so a rank without a
// trace is missing.
void AnalyzeRun(RunAnalysis& run, bool whole = true);

// The input of MatchCollectives, by index into `run.traces`. Only workers' traces with a digest,
// with device times, and with a place on the run's clock have collectives.
std::vector<CommRank> CommRanksOf(const RunAnalysis& run);

// Whether both are of the same trace, by header, span and number of events, and have work in
// common: two copies, or a trace and its results, but not two windows that only touch.
bool IsSameTrace(const TraceAnalysis& a, const TraceAnalysis& b);
// Whether a trace of `a` is also a trace of `b`.
bool ShareWork(const RunAnalysis& a, const RunAnalysis& b);

// The traces that a run's figures are computed from: those of single ranks. A merged file repeats
// them, so it counts only if there are no others.
std::vector<const TraceAnalysis*> RanksOf(const RunAnalysis& run);
// The traces of RanksOf that have device times: sums over devices and kernels use these. All of
// RanksOf if none has any (for example, because the times are refused).
std::vector<const TraceAnalysis*> TimedRanksOf(const RunAnalysis& run);
// Those of `ranks` that have device times; all of `ranks` if none has any.
std::vector<const TraceAnalysis*> TimedOf(std::vector<const TraceAnalysis*> ranks);

}  // namespace tacho
