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
#include "analysis/graphs/graph_table.h"
#include "analysis/host/ops.h"
#include "analysis/layers/layer_table.h"
#include "analysis/names/classifier.h"
#include "analysis/opportunities/opportunities.h"
#include "analysis/prepared_trace.h"
#include "analysis/ranks/digest.h"
#include "analysis/ranks/ranks.h"
#include "analysis/requests/request_analysis.h"
#include "analysis/roofline/roofline.h"
#include "analysis/sources/source_table.h"
#include "analysis/speculation/speculation.h"
#include "analysis/steps/step_profile.h"
#include "analysis/steps/steps.h"
#include "model/clocks.h"
#include "model/trace.h"

namespace tacho {

// Everything that `tacho analyze` finds out about one trace. All reports are made from it.
struct TraceAnalysis {
  // The path as the user gave it. For a trace in an archive "ARCHIVE:MEMBER"; if a file holds
  // several traces, "FILE#pid=7".
  std::string path;
  uint64_t bytes = 0;       // size of the file (or archive member) as stored
  uint64_t json_bytes = 0;  // after decompression
  // False: another trace of the run already counts the bytes of this file.
  bool first_of_file = true;
  std::string results;  // the results file that this was read back from; "": none
  TraceHeader header;
  TraceFacts facts;
  Interval span;      // from the first event to the last
  Interval profiled;  // when the profiler ran, as the trace says; empty if it does not say
  // When the first event was, on the run's clock (run_clock.h), which the page of `tacho view`
  // shows. Set by AnalyzeRun. 0 for a single trace, and for a trace that cannot be placed on that
  // clock.
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
  StepProfile step_profile;  // empty unless AnalysisOptions asks for it
  GraphTable graphs;
  LayerTable layers;
  std::vector<Opportunity> opportunities;
  Speculation speculation;
  Roofline roofline;    // empty unless AnalysisOptions has a model
  SourceTable sources;  // empty unless AnalysisOptions asks for it
  IdleTable idle;
  // Null unless AnalysisOptions asks for it; if results were read back, unless they hold it.
  std::shared_ptr<const TraceDigest> digest;
  std::string digest_text;  // the digest's bytes in Base64, to be written; "": not to be written
  std::shared_ptr<const SourceMap> source_map;

  // The trace's time at which the run's clock is zero.
  [[nodiscard]] TimeNs run_zero() const { return span.start - run_start; }
  // The part of `span` in which the work of devices was recorded.
  [[nodiscard]] Interval recorded() const;
};

// Traces that are slices of one recording and overlap in time. They are analyzed as one, because
// their windows cannot be added up.
struct SlicesTogether {
  std::vector<std::string> paths;
  std::vector<DeviceTime> devices;
  IdleTable idle;
};

struct RunRequests;

// A run: one trace or several, sorted by path, and a table of its ranks.
struct RunAnalysis {
  std::vector<TraceAnalysis> traces;
  std::vector<SlicesTogether> together;
  // The clocks of the traces (by index) and of the run. Set by AnalyzeRun.
  ClockMap clocks;
  RankTable ranks;           // for a single trace, filled only if other ranks are missing
  RequestAnalysis requests;  // set by AnalyzeRequests; empty without requests
  std::shared_ptr<const RunRequests> joined = {};  // input of `requests`; may be null
  std::vector<std::string> skipped;  // files that are not in `traces`, each "PATH: why"
  // Traces that hold the same work as another trace. `what` tells why ("a copy of PATH"). They are
  // also in `skipped`.
  struct Copy {
    std::string path, what;
  };
  std::vector<Copy> copies;
  std::vector<std::string> failed;  // those entries of `skipped` that could not be read
  // Recordings of graph capture in a folder beside the traces; they are not read.
  std::vector<std::string> captures;
  // One sentence for each rank whose trace `tacho record` could not prove to be complete. Empty if
  // only a part of the run was asked for.
  std::vector<std::string> unproven;
};

struct AnalysisOptions {
  Scope scope;
  std::optional<InFlight> in_flight = {};  // absent: unknown
  std::string_view path = {};              // path of the file; its name may tell what the trace is
  // Whether to compute OpTable::key_averages, which costs as much as the rest.
  bool key_averages = true;
  bool step_profile = false;
  bool digest = false;
  RooflineSetup roofline = {};
  SourcesAsked sources = {};
  size_t threads = 1;  // independent analyses run at once; the result is the same
};
// Runs every analysis over one trace. `prepared`: for the same scope. Adds notes that only an
// analysis can give (such as work without a launch call, or no GPU events). The result copies its
// strings, so the trace may be destroyed.
TraceAnalysis AnalyzeTrace(const PreparedTrace& prepared, const Classifier& classifier,
                           const AnalysisOptions& options = {});
TraceAnalysis AnalyzeTrace(const Trace& trace, const Classifier& classifier,
                           const AnalysisOptions& options = {});
// The traces in the form that the analyses of a run need. The result points into `run`. Also sets
// the stage of each trace in `run`.
std::vector<RankInput> RankInputsOf(RunAnalysis& run);
// Computes `run.ranks` and the clocks from `run.traces`. `whole`: whether `run.traces` holds all
// traces of the run. If so, a rank without a trace counts as missing.
void AnalyzeRun(RunAnalysis& run, bool whole = true);

// The input of MatchCollectives, with one entry for each of `run.traces`. An entry is empty unless
// the trace is a worker's, has a digest and reliable device times, and can be placed on the run's
// clock.
std::vector<CommRank> CommRanksOf(const RunAnalysis& run);

// Whether `a` and `b` come from the same trace (by header, span and number of events) and have work
// in common. True for two copies and for a trace and its results; false for two windows that only
// touch.
bool IsSameTrace(const TraceAnalysis& a, const TraceAnalysis& b);
// Whether a trace of `a` is also a trace of `b`.
bool ShareWork(const RunAnalysis& a, const RunAnalysis& b);

// The traces from which a run's figures are computed: those of single ranks. A merged file holds
// the work of several ranks again, so merged files are used only if there are no other traces.
std::vector<const TraceAnalysis*> RanksOf(const RunAnalysis& run);
// Those traces of RanksOf that have device times, for sums over devices and kernels. If none has
// device times (for example because they are unreliable): all of RanksOf.
std::vector<const TraceAnalysis*> TimedRanksOf(const RunAnalysis& run);
// Those of `ranks` that have device times; all of `ranks` if none has any.
std::vector<const TraceAnalysis*> TimedOf(std::vector<const TraceAnalysis*> ranks);

}  // namespace tacho
