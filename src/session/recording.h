#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock_pair.h"
#include "control/live/discover.h"
#include "control/live/profile_control.h"
#include "load/plan/plan.h"
#include "session/load/load_window.h"
#include "session/record_observer.h"
#include "session/recorded_worker.h"
#include "session/recording_options.h"
#include "session/run_folder/run_folder.h"

namespace tacho {

// A window that was taken through Kineto's daemon protocol.
struct DaemonWindow {
  int64_t begin_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC, as requested from the processes
  size_t processes = 0;              // the number of processes that got the request
  std::string socket_folder;         // where the daemon's socket is; "": it has the abstract name
  std::string request;               // the request to the processes, as Kineto reads it
  std::vector<Finding> findings;
  bool begun() const { return processes > 0; }
};

// A window that Nsight Systems recorded.
struct NsysWindow {
  std::string version;                             // the version of nsys that was used
  std::vector<std::vector<std::string>> commands;  // the nsys commands that started and stopped it
};

struct Recording {
  RunFolder folder;
  Via via = Via::kHttp;
  Deployment deployment = {};
  std::vector<RecordedWorker> workers = {};
  // Workers that could not be profiled; `expectation.trouble` says why.
  std::vector<RecordedWorker> left_out = {};
  std::optional<DaemonWindow> daemon = {};
  std::optional<NsysWindow> nsys = {};
  std::optional<LoadPlan> plan = {};
  std::optional<LoadRecords> load = {};
  LoadWindow baseline = {}, profiled = {};
  std::optional<Overhead> overhead = {};
  ClockPair clocks = {};
  ControlSpread starts = {};  // how far apart the starts by HTTP were
  WindowPlan window = {};
  // When all engines had written, if a given load (RecordOptions) went on in that time; else 0.
  int64_t flushed_ns = 0;
  std::optional<int64_t> interrupted_ns = {};  // CLOCK_MONOTONIC of the user's Ctrl-C
  std::vector<Finding> findings = {};          // all findings except those of the proof

  // The share of the throughput that profiling cost, and its error. The error is twice the standard
  // error or, if larger, the largest difference between the baseline's mean and a stretch of the
  // baseline as long as the profiled window. Absent if a window is missing or requests failed in
  // one. A cost smaller than its error may as well be 0.
  struct Cost {
    double share = 0, error = 0;
  };
  std::optional<Cost> CostOfProfiling() const;
  // An engine that ends its session within the window stands still while it writes its trace. So
  // this shortens `profiled` to the end of the first session, or empties it if that moment is not
  // known.
  void EndProfiledWith(const std::vector<TraceEvidence>& traces, const Proof& proof);
  bool AnyStarted() const;
  bool HasTrouble() const;  // whether one of `findings` is a trouble
  // Whether the recording was ended because of one worker (WorkerExpectation::given_up).
  bool GaveUp() const;
  // The expectations of all workers, including those that were left out.
  std::vector<WorkerExpectation> Expectations() const;
};

// Shows the finding and keeps it.
void ReportFinding(Recording& recording, RecordObserver& observer, Finding finding);

}  // namespace tacho
