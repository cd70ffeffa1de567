#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/ranks/sessions.h"
#include "analysis/summary.h"
#include "base/result.h"
#include "model/requests.h"
#include "run/progress.h"
#include "run/read_source.h"
#include "run/run_in_flight.h"

namespace tacho {

// Which traces are wanted: files, and folders and archives of them.
struct TraceChoice {
  std::vector<std::string> paths;
  size_t threads = 0;  // 0: one for each core
  // Only this session: "latest", or a part of the path of one of its traces; "": all sessions.
  std::string session = {};
  std::vector<int64_t> ranks = {};  // which ranks of the session; empty: all
  bool first_worker_only = false;   // in the order of the paths
  // Texts that look like secrets (base/secrets.h) stay; else they are blanked once a trace is read.
  bool keep_secrets = false;
};

// A part of each trace; times count from the trace's first event.
struct TraceWindow {
  std::optional<DurationNs> begin = {}, end = {};  // absent: the begin or end of the trace

  // The part on the clock of a trace; nullopt when it begins after the end of `span`.
  [[nodiscard]] std::optional<Interval> On(Interval span) const;
};

// Keeps the traces of a run, for a view that shows them while the others are read. Many threads
// call it at once.
class TraceKeeper {
 public:
  virtual ~TraceKeeper() = default;
  // Called once, before all other calls. `source` below is an index into `found.traces`, the order
  // of the results.
  virtual void OnFound(const Discovery& found) = 0;
  virtual void OnBegin(size_t source) = 0;
  // Takes a trace of the source before its analysis, and keeps it until ReadRun returns. `path`: as
  // in TraceAnalysis. `in_flight`: on the trace's clock; absent: unknown.
  virtual void OnTrace(size_t source, const std::string& path, std::unique_ptr<const Trace> trace,
                       const PreparedTrace& prepared, const std::optional<InFlight>& in_flight) = 0;
  // The last call for the source. `failure`: why the source cannot be read, or null. With neither a
  // trace nor a failure, the source has no trace that was asked for.
  virtual void OnEnd(size_t source, const Error* failure) = 0;
};

struct AnalysedTrace {
  const std::string& path;  // `analysis` has no path yet
  const Trace& trace;
  const TraceAnalysis& analysis;
  const InFlight* in_flight;  // nullptr: unknown
};

struct ReadOptions {
  std::optional<TraceWindow> window = {};
  std::string device = {};
  bool own_rules = false;     // the classifier has rules of the user
  bool key_averages = false;  // also computes what PyTorch's key_averages() shows
  bool step_profile = false;  // also computes what each step is made of
  // The requests in flight during the recording that the traces belong to, if its run.json is not
  // written yet.
  std::optional<RunInFlight> in_flight = {};
  const RequestTable* requests = nullptr;
  TraceKeeper* keeper = nullptr;        // only without a window and a device
  std::string kept_for = "a timeline";  // the keeper's purpose, for errors
  // Sees each trace of the run with its analysis, before the trace is dropped. Many threads call it
  // at once.
  std::function<void(const AnalysedTrace&)> on_analysed = {};
};

// A trace that was read, whether or not it was asked for.
struct SeenTrace {
  std::string path;                       // see TracePath
  std::optional<int64_t> rank = {};       // set only if ranks are chosen
  std::vector<std::string> devices = {};  // with GPU work, sorted
  Interval span = {};
  std::optional<int64_t> base_time_ns = {};
  std::string trace_id = {};
  size_t blanked = 0;  // how many secrets were blanked in it
  // Why the trace is not in the run.
  enum class Lacks : uint8_t { kNothing, kRank, kWork, kWindow, kDevice } lacks = Lacks::kNothing;
};

// What could be read, and what could not.
template <typename Run>
struct Readout {
  Run run;
  std::vector<Error> failures;  // inputs that could not be read; in `run.skipped` too
  bool is_collection =
      false;  // a folder, an archive or several files: ranks can be missing from it
  std::optional<SessionChoice> sessions;  // absent: no session was asked for
  std::vector<SeenTrace> seen;            // of the session, in order; not from ReadSummaries

  // How many secrets were blanked in all traces.
  [[nodiscard]] size_t Blanked() const {
    size_t blanked = 0;
    for (const SeenTrace& trace : seen) blanked += trace.blanked;
    return blanked;
  }
};

// Each function finds the traces, reads them, several at a time, and keeps those that were asked
// for; a run without a trace is no failure. If the paths show the sessions, only the files of the
// chosen session are opened. A trace that does not fit into memory is an unreadable input. The
// functions fail if a path is missing or nothing could be read. Many threads call `read`.

// Each Trace is dropped as soon as it is analysed, unless `options.keeper` keeps it. Results of
// `tacho analyze --json` replace their traces, unless a window, a device, rules or a keeper need
// events.
Result<Readout<RunAnalysis>> ReadRun(const TraceChoice& choice, const ReadOptions& options,
                                     const Classifier& classifier, RunProgress& progress,
                                     const SourceReader& read = ReadSource);

// Passes the traces of each file to `use`: one, or one for each process in the file. Many threads
// call it at once. Nothing is analysed: the run has only who wrote each trace, the trace's notes,
// and what is missing from the run.
using FileUse = std::function<void(const TraceSource& file, const std::vector<Trace>& traces)>;
Result<Readout<RunAnalysis>> ReadFiles(const TraceChoice& choice, const FileUse& use,
                                       RunProgress& progress,
                                       const SourceReader& read = ReadSource);

// Totals of all ranks and sessions, without a Trace in memory: memory grows only with the number of
// different names.
Result<Readout<RunSummary>> ReadSummaries(const TraceChoice& all, RunProgress& progress,
                                          const SourceReader& read = ReadSource);

}  // namespace tacho
