#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "model/notes.h"
#include "model/rank_identity.h"

namespace tacho {

// What the proof needs from one trace file. The caller fills it in the same pass over the file that
// feeds the analysis.
struct TraceEvidence {
  std::string path;
  std::optional<int64_t> rank, world_size;
  RankIdentity identity;
  std::vector<int64_t> pids;                           // processes with events in it
  std::vector<std::string> process_names;              // "VLLM::Worker_TP1"
  std::optional<int64_t> first_unix_ns, last_unix_ns;  // its first and last event
  // When its last step was over, on the host and on the devices. Later events belong to the
  // profiler's own stop (SGLang: a `scheduler.run_batch` of 170 ms). Absent without steps.
  std::optional<int64_t> last_step_unix_ns;
  uint64_t events = 0;  // events that have a time
  uint64_t gpu_events = 0;
  bool idle = false;              // it has no slices except the profiler's own
  bool has_gpu = false;           // its header names a GPU
  std::optional<uint64_t> steps;  // without empty ones; absent: nothing in the file names steps
  // Steps without a request; vLLM counts them towards the number of steps asked for.
  uint64_t empty_steps = 0;
  std::string stage;           // "prefill" or "decode" if its rank wrote one file for each stage
  bool front_end = false;      // the trace of an API server, or of another process that is no rank
  bool merged = false;         // several ranks in one file
  std::optional<Note> defect;  // why the file is not whole; absent: it is whole
  // Events or times that the profiler lost although the file is whole; "": none known.
  std::string loss;
};

// What one worker must deliver, and what is known about its session.
struct WorkerExpectation {
  std::string name;  // "w0": from its index among the workers that were found
  std::string url;
  EngineFacts facts;
  std::optional<int64_t> steps_asked;
  // Steps that end the session by the start request: asked for, or set by the budget.
  std::optional<int64_t> steps_bound;
  std::optional<int64_t> own_bound;  // steps that end the session by the engine's own configuration
  bool by_stage = false;
  // Set for nsys: one report holds all processes, and its traces are named "FILE#pid=1".
  bool one_report = false;
  // Processes that are no rank also leave a file, without any work in it.
  bool idle_processes_write = false;
  // False: the engine does not name its steps (a daemon's trace, old vLLM).
  bool steps_named = true;
  // Engine steps between start and stop, by the engine's own counters: one value for each
  // data-parallel engine of the server, by the engine's number; nullopt: its metrics do not report
  // it. Empty if there are no metrics.
  std::vector<std::optional<int64_t>> steps_by_metrics;
  // tacho's load sent requests to it, and no token came in the window.
  bool silent_under_load = false;
  // When its stop was sent, it had unanswered requests of tacho's load that no other worker could
  // have taken.
  bool had_work_at_stop = false;
  bool wrote_before_stop = false;  // its files were already whole when its stop was sent
  // A load goes on after the stop, so that the counters include later steps.
  bool steps_go_on = false;
  bool nothing_ran = false;    // its answer to the stop says that nothing ran, and there is no file
  bool answered_stop = false;  // it answered its stop, so it lives and has written its files
  // The length of the window, if its time ran out before the steps asked for were taken; else 0.
  int64_t ended_by_time_ns = 0;
  bool interrupted = false;     // by Ctrl-C, before the window was over
  bool ended_by_death = false;  // the death of an engine ended the window
  bool time_asked = false;      // a length of the window was asked for, as well as steps
  int64_t start_unix_ns = 0, stop_unix_ns = 0;  // 0: not started
  int64_t all_running_unix_ns = 0;              // when the last profiler was running; 0: not known
  int64_t stop_asked_unix_ns = 0;               // when its stop was sent; 0: no stop was sent
  std::string key;  // what the names of its files begin with; "" if the engine reads no key
  std::optional<uint64_t> room_bytes;  // free room on the disk that it writes to, after it wrote
  std::string log_failure;             // the profiler's failure as its log reports it, or ""
  std::optional<Finding> trouble;      // what went wrong with its start or stop
  std::optional<Finding> why_no_file;  // why a rank has no file, if nothing else explains it
  // Set if tacho did not start this worker, or ended it at once, because of another worker.
  std::optional<Finding> given_up;
  // Files that appeared for this worker. Workers that share a folder may list the same files.
  std::vector<std::string> files;
  std::vector<int64_t> pids;  // its processes, if they run on this host

  // Whether `path` is one of `files` or a part of one.
  bool Brought(const std::string& path) const {
    return std::ranges::any_of(files, [&](const std::string& file) {
      return path == file || path.starts_with(file + "#");
    });
  }
  std::optional<int64_t> StepsOf(int64_t engine) const {
    const auto at = static_cast<size_t>(engine);
    return at < steps_by_metrics.size() ? steps_by_metrics[at] : std::nullopt;
  }
  // A sentence that its disk is full, and how tacho knows; "" if the disk is not full.
  std::string FullDisk() const;
};

// One rank of one worker.
struct RankProof {
  std::string worker_url;
  RankIdentity identity;  // without a stage
  int64_t engine = 0;     // data-parallel engine
  int64_t rank = 0;
  // One file, or one for each stage if stages were asked for; empty: there is no file.
  std::vector<std::string> paths;
  std::optional<uint64_t> steps;                    // the number of steps in these files
  std::map<std::string, uint64_t> steps_of_stages;  // set if stages were asked for
  bool proven = false;
  std::optional<Finding> why;  // if not proven: the likely cause
  bool follows = false;  // not proven, because tacho gave up on its worker due to another worker
  std::optional<Finding> remark;  // the rank is proven, but its files leave something out
  std::optional<Finding> loss;    // the rank is proven, but its profiler lost rows or times

  std::string Who() const;  // "w0 TP1 (http://...)"
};
struct Proof {
  std::vector<RankProof> ranks;  // sorted by worker (in the order found), engine, rank
  // Files of this session that belong to no rank: of front ends, or merged.
  std::vector<std::string> extra;
  std::vector<std::string> foreign;  // files of another session, known by their times
  std::vector<Finding> remarks;      // about proven ranks and `extra`
  bool complete = false;             // all ranks are proven, and no remark is a trouble

  // The number of ranks that are proven but whose profiler lost rows or times.
  size_t Incomplete() const;
  // One finding for each rank that is not proven. A cause comes before the findings that follow
  // from it.
  std::vector<Finding> Missing() const;
};

// Checks by their content whether the files are what every worker must deliver: rank, world size,
// pid, time window, steps. A file's name or an answer of 200 proves nothing. A pure function; the
// order of `traces` does not matter.
Proof Prove(const std::vector<WorkerExpectation>& workers, std::vector<TraceEvidence> traces);

}  // namespace tacho
