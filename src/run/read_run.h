#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

// Which traces the user asks for, as files, or as folders and archives that contain them.
struct TraceChoice {
  std::vector<std::string> paths;
  size_t threads = 0;  // 0: one for each core
  // Only this session: "latest", or part of the path of one of its traces. "": all sessions.
  std::string session = {};
  // The paths are all traces of a run, so ranks may be missing although there is only one file.
  bool is_run = false;
  std::vector<int64_t> ranks = {};  // which ranks of the session; empty: all
  bool first_worker_only = false;   // only the first trace of a rank, in the order of paths
  // Keeps texts that look like secrets (base/secrets.h). If false, they are blanked when a trace is
  // read.
  bool keep_secrets = false;
};

// A part of each trace. Times count from the first event of the trace.
struct TraceWindow {
  std::optional<DurationNs> begin = {}, end = {};  // absent: up to the begin or end of the trace

  // This part on the clock of a trace with this `span`; nullopt if the part would begin after the
  // end of `span`.
  [[nodiscard]] std::optional<Interval> On(Interval span) const;
};

// Keeps the traces of a run for a view, which shows the first ones while others are read. Several
// threads may call it at the same time.
class TraceKeeper {
 public:
  virtual ~TraceKeeper() = default;
  // Called once, before all other functions. `source` in the functions below is an index into
  // `found.traces`. The traces of the run that ReadRun returns have the same order.
  virtual void OnFound(const Discovery& /*found*/) {}
  virtual void OnBegin(size_t /*source*/) {}
  // Hands over a trace of the source before it is analyzed; it must be kept until ReadRun returns.
  // `path`: as in TraceAnalysis. `in_flight`: on the trace's clock; absent: unknown.
  virtual void OnTrace(size_t source, const std::string& path, std::unique_ptr<const Trace> trace,
                       const PreparedTrace& prepared, const std::optional<InFlight>& in_flight) = 0;
  // The last call for a source. `failure`: why it cannot be read; null if it was read. A source
  // that was read but for which OnTrace was not called has no trace that the user asked for.
  virtual void OnEnd(size_t /*source*/, const Error* /*failure*/) {}
};

struct AnalysedTrace {
  const std::string& path;  // `analysis.path` is not set yet
  const Trace& trace;
  const TraceAnalysis& analysis;
  const InFlight* in_flight;  // nullptr: unknown
};

struct ReadOptions {
  std::optional<TraceWindow> window = {};
  std::string device = {};
  bool own_rules = false;     // the classifier has rules from the user
  bool key_averages = false;  // also compute what PyTorch's key_averages() shows
  bool step_profile = false;  // also compute what the time of each step consists of
  bool digests = false;       // also set TraceAnalysis::digest_text
  RooflineSetup roofline = {};
  SourcesAsked sources = {};
  // For a recording whose run.json is not written yet: its requests in flight.
  std::optional<RunInFlight> in_flight = {};
  const RequestTable* requests = nullptr;
  TraceKeeper* keeper = nullptr;        // not allowed together with a window or a device
  std::string kept_for = "a timeline";  // what the keeper is for, for error messages
  // By the path of a file of results: the host that has the traces. The host's name is put before
  // their paths: "node-1:/traces/rank0.json".
  std::map<std::string, std::string> hosts = {};
  // Called with each trace of the run and its analysis, before the trace is destroyed. Several
  // threads may call it at the same time.
  std::function<void(const AnalysedTrace&)> on_analysed = {};
};

// A trace that was read, even if it was not asked for.
struct SeenTrace {
  std::string path;                       // see TracePath
  std::optional<int64_t> rank = {};       // set only if the user chose ranks
  std::vector<std::string> devices = {};  // those with GPU work, sorted
  Interval span = {};
  std::optional<int64_t> base_time_ns = {};
  std::string trace_id = {};
  size_t blanked = 0;  // how many secrets were blanked in it
  // What the trace lacks to be in the run; kNothing if it is in the run.
  enum class Lacks : uint8_t { kNothing, kRank, kWork, kWindow, kDevice } lacks = Lacks::kNothing;
};

// What could be read, and what could not be.
template <typename Run>
struct Readout {
  Run run;
  std::vector<Error> failures;  // inputs that could not be read; also in `run.skipped`
  // The traces are a folder, an archive or several files, so ranks may be missing.
  bool is_collection = false;
  std::optional<SessionChoice> sessions;  // absent: no session was asked for
  std::vector<SeenTrace> seen;  // traces of the session, in order; empty from ReadSummaries

  // How many secrets were blanked in all traces together.
  [[nodiscard]] size_t Blanked() const {
    size_t blanked = 0;
    for (const SeenTrace& trace : seen) blanked += trace.blanked;
    return blanked;
  }
};

// Each of these functions finds the traces, reads several of them at a time, and keeps those that
// the user asked for. A run may end up without traces; this is not a failure. If the paths show
// which session each file belongs to, only files of the chosen session are opened. A trace that
// does not fit into memory counts as unreadable. The functions fail if a path does not exist or
// nothing could be read. Several threads call the parameter `read` at the same time.

// Destroys each Trace as soon as it is analyzed, unless `options.keeper` keeps it. Results of
// `tacho analyze --json` are used instead of their traces, unless a window, a device, rules or a
// keeper need events.
Result<Readout<RunAnalysis>> ReadRun(const TraceChoice& choice, const ReadOptions& options,
                                     const Classifier& classifier, RunProgress& progress,
                                     const SourceReader& read = ReadSource);

// Calls `use` with the traces of each file: one trace, or one for each process in the file. Several
// threads may call `use` at the same time. Nothing is analyzed: the run that is returned only tells
// who wrote each trace, its notes, and what is missing.
using FileUse = std::function<void(const TraceSource& file, const std::vector<Trace>& traces)>;
Result<Readout<RunAnalysis>> ReadFiles(const TraceChoice& choice, const FileUse& use,
                                       RunProgress& progress,
                                       const SourceReader& read = ReadSource);

// Totals of all ranks and sessions, without storing any Trace: memory grows only with the number of
// different names.
Result<Readout<RunSummary>> ReadSummaries(const TraceChoice& all, RunProgress& progress,
                                          const SourceReader& read = ReadSource);

}  // namespace tacho
