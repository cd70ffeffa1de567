#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/live/discover.h"
#include "control/live/probe.h"
#include "control/live/profile_control.h"
#include "load/drive/drive.h"
#include "load/plan/plan.h"
#include "load/result/distribution.h"
#include "net/http_client.h"
#include "session/files/fetch_files.h"
#include "session/plan/budget.h"
#include "session/plan/overhead.h"
#include "session/proof/engine_log.h"
#include "session/proof/proof.h"
#include "session/run_folder/run_folder.h"

namespace tacho {

enum class Via { kAuto, kHttp, kDaemon, kNsys };
std::string_view NameOf(Via via);  // "http", as --via takes it

// A load that the caller has planned, as `tacho load` sends it.
struct GivenLoad {
  LoadPlan plan;
  std::vector<DriveTarget> targets;
  DriveOptions drive;
};

struct RecordOptions {
  std::vector<std::string> targets;
  ProfileOptions profile;  // its key is made by Record
  Via via = Via::kAuto;
  std::string out = ".";  // the run folder is made in it

  bool load = true;             // false: the user drives
  bool through_router = false;  // load through the router in place of straight to the workers
  // Its duration is made by Record, and it has no number of requests: the load goes on through all
  // windows. A concurrency of 0: 8 a worker.
  PlanOptions plan;
  // In place of that: the profilers start before its first request, with neither warm-up nor
  // baseline, and stop at the end of the window while the load goes on. By HTTP alone.
  std::optional<GivenLoad> given_load;
  bool whole_load = false;  // they stop after its last request: nothing bounds the window
  int64_t warm_up_ns = 3'000'000'000;
  int64_t baseline_ns = 5'000'000'000;      // unprofiled, so that the cost of profiling is a number
  std::optional<OverheadOptions> overhead;  // windows between the baseline and the recording
  // Profiled, at most: it ends sooner when the steps asked for are taken, or so many requests
  // ended.
  int64_t window_ns = 10'000'000'000;
  bool window_asked = false;  // by the user, who then gets it; else the budget bounds it
  Budget budget;
  std::optional<uint64_t> window_requests;

  std::string trace_dir;  // where the engines write, as seen from here
  // "HOST:/path" or "HOST": fetched by ssh. One for all, or one for each host of the workers' URLs.
  std::vector<std::string> collect_from;
  std::vector<std::string> engine_logs;  // one for all workers, or one for each in their order
  struct PathMap {
    std::string engine, local;
  };
  std::vector<PathMap> maps;              // an engine's folder mounted elsewhere
  std::string socket_folder;              // of the daemon, "" for its abstract name
  std::string nsys_session;               // by name; "": that of the engine's processes
  bool keep_going = false;                // with the workers that can be profiled
  std::chrono::milliseconds patience{0};  // for stop and flush; 0: as long as it takes
  std::string command;                    // for run.json and commands.sh: without secrets
};

struct Recording;

// Hears what goes on, from the thread that runs Record.
class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  // A phase is done: "preflight", what came out.
  virtual void OnDone(std::string_view phase, const std::string& what) = 0;
  // Of the phase under way, perhaps in several lines; comes often.
  virtual void OnProgress(std::string_view phase, const std::string& what) = 0;
  virtual void OnRemark(const std::string& what) = 0;
  // Some workers are done and others still write: `recording` may be written and proven now, and
  // goes on.
  virtual void OnPartly(Recording&) {}
  // What would stay if this process ended now, in lines for the user; "" for nothing.
  virtual void OnLeftBehind(const std::string& what) = 0;
};

struct RecordedWorker {
  Worker worker;
  EngineFacts facts;
  ProfileOptions profile;  // what is asked of it
  std::string key;         // of its session: the beginning of its files' names where it reads one
  std::string folder;      // where it writes, as seen from here; "" when it cannot be seen
  std::optional<RemoteFolder> remote;  // where its files are fetched from
  EngineLog log;
  std::string nsys_session;                   // the name of the one that it runs in
  std::optional<ControlRequest> start, stop;  // absent: by the daemon
  std::optional<ControlOutcome> started, stopped;
  std::optional<ProfileFigures> figures;   // what is known before the start of what it writes
  std::optional<int64_t> figures_unix_s;   // of an earlier recording: when that was; 0: not told
  std::optional<int64_t> trial_start_ns;   // how long its first start took, in a trial
  std::optional<Forecast> forecast;        // what was said before the start
  int64_t written_unix_ns = 0;             // when it had written all, by its own clock
  double table_ns = 0;                     // from its last trace to its table
  std::optional<ProfileFigures> recorded;  // what it came to
  std::optional<MetricsSnapshot> before, after;
  WorkerExpectation expectation;  // its files are those in the run folder
};

// What the load did between two moments.
struct LoadWindow {
  std::string scenario = {};         // "": all
  int64_t begin_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC
  uint64_t requests_done = 0, requests_failed = 0, output_tokens = 0;
  std::vector<uint64_t> tokens_in_parts;  // of ten equal parts of the window
  // Median and 99th percentile, in ns: TTFT of the requests whose first token came in the window,
  // TPOT of those that are done and have all tokens in it.
  Distribution ttft, tpot;
  std::vector<LoadWindow> scenarios;  // the same of each, by name, if the load has several
  std::optional<double> TokensPerSecond() const;
  // Of TokensPerSecond, as a share of it: from how much the parts differ.
  std::optional<double> StandardError() const;
};
LoadWindow MeasureWindow(const LoadRecords& records, int64_t begin_ns, int64_t end_ns);

// A window that was taken through Kineto's daemon protocol.
struct DaemonWindow {
  int64_t begin_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC, as it was asked for
  size_t processes = 0;              // that were told
  std::string socket_folder;         // where they asked; "": the abstract name
  std::string request;               // what they were told, as Kineto reads it
  std::vector<Finding> findings;
  bool begun() const { return processes > 0; }
};

// A window that Nsight Systems recorded.
struct NsysWindow {
  std::string version;                             // of the nsys that was asked
  std::vector<std::vector<std::string>> commands;  // its starts and stops
};

struct Recording {
  RunFolder folder;
  Via via = Via::kHttp;
  Deployment deployment = {};
  std::vector<RecordedWorker> workers = {};
  std::vector<RecordedWorker> left_out = {};  // could not be profiled: expectation.trouble
  std::optional<DaemonWindow> daemon = {};
  std::optional<NsysWindow> nsys = {};
  std::optional<LoadPlan> plan = {};
  std::optional<LoadRecords> load = {};
  LoadWindow baseline = {}, profiled = {};
  std::optional<Overhead> overhead = {};
  ClockPair clocks = {};
  ControlSpread starts = {};  // by HTTP
  WindowPlan window = {};
  // When all engines had written, of a given load that went on meanwhile; 0: of no such load.
  int64_t flushed_ns = 0;
  std::optional<int64_t> interrupted_ns = {};  // CLOCK_MONOTONIC of the user's Ctrl-C
  std::vector<Finding> findings = {};          // but those of the proof

  // Share of the throughput that profiling took, and its error: twice the standard error, or the
  // largest difference from the mean of any stretch of the baseline as long as the profiled window,
  // if that is more. Absent without both windows, and if requests failed in one of them. A cost
  // smaller than its error was not seen.
  struct Cost {
    double share = 0, error = 0;
  };
  std::optional<Cost> CostOfProfiling() const;
  // An engine that ends its session within the window stands still while it writes. So `profiled`
  // ends with the first session; it is empty if that moment is not known.
  void EndProfiledWith(const std::vector<TraceEvidence>& traces, const Proof& proof);
  bool AnyStarted() const;
  bool HasTrouble() const;  // among the findings
  // Whether it was ended for the sake of one worker (WorkerExpectation::given_up).
  bool GaveUp() const;
  // What all workers owe, including those that were left out.
  std::vector<WorkerExpectation> Expectations() const;
};

// Shows the finding and keeps it.
void ReportFinding(Recording& recording, RecordObserver& observer, Finding finding);

// Records a deployment: preflight, warm-up, a window without and one with profiling, stop, collect.
// Profilers that were started are stopped whatever happens, also when `stop` is requested (the
// recording is then interrupted and holds what there is). Errors are those of the preflight,
// before anything was started: kUsage (it cannot do what was asked for), kRemote (no answer, or
// somebody else profiles), kOutput (the run folder).
Result<Recording> Record(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                         std::stop_token stop = {});

// Writes everything but traces/ and run.json into the run folder. Gives what could not be written.
std::vector<Finding> WriteRecording(const Recording& recording, const RecordOptions& options);
// The text of run.json, which is written last of all. `analysis`: what the traces show, a JSON
// object whose fields are added; "" without any.
std::string RunJsonText(const Recording& recording, const RecordOptions& options,
                        const Proof& proof, std::string_view tacho_version, int exit_status,
                        const std::string& analysis);

}  // namespace tacho
