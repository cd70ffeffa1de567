#pragma once

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
#include "analysis/names/classifier.h"
#include "analysis/prepared_trace.h"
#include "analysis/ranks/ranks.h"
#include "analysis/steps/step_profile.h"
#include "analysis/steps/steps.h"
#include "model/trace.h"

namespace tacho {

// Everything that `tacho analyze` knows about one trace: the input of every report.
struct TraceAnalysis {
  std::string path;    // as given; "ARCHIVE:MEMBER" in an archive; "FILE#pid=7": one of several
  uint64_t bytes = 0;  // of the file (or archive member) as stored
  uint64_t json_bytes = 0;    // after decompression
  bool first_of_file = true;  // false: another trace of the run has the bytes of the file too
  std::string results;        // the file of results that it was read back from; "": none
  TraceHeader header;
  TraceFacts facts;
  Interval span;
  // Of the first event, on the run's clock (run_clock.h): as the page of `tacho view` places it.
  // AnalyzeRun sets it; 0 of a trace alone, and where nothing places it.
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
  IdleTable idle;

  // 0 of the run's clock, as a time of the trace.
  [[nodiscard]] TimeNs run_zero() const { return span.start - run_start; }
  // The part of `span` in which the work of devices was recorded.
  [[nodiscard]] Interval recorded() const;
};

// Slices of one recording that overlap in time, as one: their windows cannot be added.
struct SlicesTogether {
  std::vector<std::string> paths;
  std::vector<DeviceTime> devices;
  IdleTable idle;
};

// A run: one or many traces, sorted by path, and the table over its ranks.
struct RunAnalysis {
  std::vector<TraceAnalysis> traces;
  std::vector<SlicesTogether> together;
  RankTable ranks;                   // of a single trace only where others are missing
  std::vector<std::string> skipped;  // files that are not in `traces`, each "PATH: why"
  std::vector<std::string> failed;   // those of `skipped` that could not be read
  // Recordings of how graphs were captured that lie in a folder beside its traces: not read.
  std::vector<std::string> captures;
  // A sentence for each rank that `tacho record` could not prove; empty if only a part was asked
  // for.
  std::vector<std::string> unproven;
};

// Runs every analysis over one trace, which was prepared for the same scope. Adds the notes that
// only analysis can see (orphans, long overlaps, no GPU events). The strings in the result are
// copies: the trace may go.
struct AnalysisOptions {
  Scope scope;
  std::optional<InFlight> in_flight = {};  // absent: unknown
  std::string_view path = {};              // of the file, whose name may say what it is
  bool key_averages = true;                // OpTable::key_averages, which costs as much as the rest
  bool step_profile = false;
  size_t threads = 1;  // independent analyses run at once; the result is the same
};
TraceAnalysis AnalyzeTrace(const PreparedTrace& prepared, const Classifier& classifier,
                           const AnalysisOptions& options = {});
TraceAnalysis AnalyzeTrace(const Trace& trace, const Classifier& classifier,
                           const AnalysisOptions& options = {});
// The traces as the analyses of a run see them. They point into `run`. Sets the stages in `run`,
// too.
std::vector<RankInput> RankInputsOf(RunAnalysis& run);
// Fills `ranks` from `traces`. `whole`: they are all that there is of the run, so that a rank
// without a trace is missing.
void AnalyzeRun(RunAnalysis& run, bool whole = true);

// Whether both are of one trace, by what it says of itself, and have work in common: two copies, or
// a trace and its results, but not two windows that only touch.
bool IsSameTrace(const TraceAnalysis& a, const TraceAnalysis& b);
// Whether a trace of one is also a trace of the other.
bool ShareWork(const RunAnalysis& a, const RunAnalysis& b);

// The traces that the figures of a run are made of: those of single ranks; a merged file repeats
// them, so it counts only where there are no others.
std::vector<const TraceAnalysis*> RanksOf(const RunAnalysis& run);
// Of these the ones that have times of a device, which sums over devices and kernels are made of.
// Where none has (times that are refused, for one), all.
std::vector<const TraceAnalysis*> TimedRanksOf(const RunAnalysis& run);

}  // namespace tacho
