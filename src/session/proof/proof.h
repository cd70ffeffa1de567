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

// What the proof needs from one trace file. The command fills it from the same reading that feeds
// the analysis.
struct TraceEvidence {
  std::string path;
  std::optional<int64_t> rank, world_size;
  RankIdentity identity;
  std::vector<int64_t> pids;                           // processes with events in it
  std::vector<std::string> process_names;              // "VLLM::Worker_TP1"
  std::optional<int64_t> first_unix_ns, last_unix_ns;  // its first and last event
  // When its last step was over, on the host and on the devices: later events belong to the
  // profiler's own stop (SGLang: a `scheduler.run_batch` of 170 ms). Absent without steps.
  std::optional<int64_t> last_step_unix_ns;
  uint64_t events = 0;  // with a time
  uint64_t gpu_events = 0;
  bool idle = false;              // it has no slice but the profiler's own
  bool has_gpu = false;           // its header names a GPU
  std::optional<uint64_t> steps;  // not counting empty ones; absent: nothing names steps in it
  uint64_t empty_steps = 0;       // without a request; vLLM counts them towards the steps asked for
  std::string stage;              // "prefill" or "decode": one of several files of its rank
  bool front_end = false;         // an API server's trace, or another one of no rank
  bool merged = false;            // several ranks in one file
  std::optional<Note> defect;     // why it is not whole; absent if it is whole
  std::string loss;  // what its profiler lost, though the file is whole; "": nothing known
};

// What one worker must deliver, and what is known about its session.
struct WorkerExpectation {
  std::string name;  // "w0", by its index among the workers found
  std::string url;
  EngineFacts facts;
  std::optional<int64_t> steps_asked;
  std::optional<int64_t> steps_bound;  // by the start request: asked for, or by the budget
  std::optional<int64_t> own_bound;    // by the engine's configuration
  bool by_stage = false;
  bool one_report = false;            // one file holds all processes: "FILE#pid=1" are its traces
  bool idle_processes_write = false;  // processes of no rank leave a file too, without any work
  bool steps_named = true;  // false: nothing in the engine names steps (a daemon's trace, old vLLM)
  // Engine steps between start and stop by the engine's own counters, one for each data-parallel
  // engine of the server, by its number; nullopt: its metrics do not report them. Empty without
  // any.
  std::vector<std::optional<int64_t>> steps_by_metrics;
  // tacho's load sent requests to it, and no token came in the window.
  bool silent_under_load = false;
  // When its stop was sent, requests of tacho's load were waiting, and no other worker can have
  // taken them.
  bool had_work_at_stop = false;
  bool wrote_before_stop = false;  // its files were whole when its stop was sent
  bool steps_go_on = false;        // a load outlasts the stop: counters include later steps
  bool nothing_ran = false;        // its answer to the stop says so, and there is no file
  bool answered_stop = false;      // it answered its stop: it lives and has written
  // The length of the window, if its time was over before the steps asked for were taken; else 0.
  int64_t ended_by_time_ns = 0;
  bool interrupted = false;                     // by Ctrl-C, before the window was over
  bool ended_by_death = false;                  // an engine's death ended the window
  bool time_asked = false;                      // the window's length was asked for too
  int64_t start_unix_ns = 0, stop_unix_ns = 0;  // 0: not started
  int64_t all_running_unix_ns = 0;              // when the last profiler ran; 0: not known
  int64_t stop_asked_unix_ns = 0;               // when its stop was sent; 0: no stop was sent
  std::string key;  // what the names of its files begin with; "" if it reads no key
  std::optional<uint64_t> room_bytes;  // free where it writes, after it wrote
  std::string log_failure;             // its profiler's failure, by its log; or ""
  std::optional<Finding> trouble;      // what went wrong with its start or stop
  std::optional<Finding> why_no_file;  // why a rank has no file, if nothing else says it
  // Set if tacho did not start it, or ended it at once, because of another worker.
  std::optional<Finding> given_up;
  // Files that appeared for this worker. Workers that share a folder may name the same ones.
  std::vector<std::string> files;
  std::vector<int64_t> pids;  // its processes, if they are on this host

  bool Brought(const std::string& path) const {  // whether it is among `files`
    return std::ranges::any_of(files, [&](const std::string& file) {
      return path == file || path.starts_with(file + "#");
    });
  }
  std::optional<int64_t> StepsOf(int64_t engine) const {
    const auto at = static_cast<size_t>(engine);
    return at < steps_by_metrics.size() ? steps_by_metrics[at] : std::nullopt;
  }
  // Says that its disk is full, and how tacho knows; "" if it is not full.
  std::string FullDisk() const;
};

// One rank of one worker.
struct RankProof {
  std::string worker_url;
  RankIdentity identity;  // without a stage
  int64_t engine = 0;     // data-parallel engine
  int64_t rank = 0;
  // One file, or one a stage if stages were asked for; empty: missing.
  std::vector<std::string> paths;
  std::optional<uint64_t> steps;                    // in these files
  std::map<std::string, uint64_t> steps_of_stages;  // if stages were asked for
  bool proven = false;
  std::optional<Finding> why;     // if not proven: the likely cause
  bool follows = false;           // not proven, because tacho gave up its worker due to another one
  std::optional<Finding> remark;  // proven, but its files leave something out
  std::optional<Finding> loss;    // proven, but its profiler lost rows or times

  std::string Who() const;  // "w0 TP1 (http://...)"
};
struct Proof {
  std::vector<RankProof> ranks;      // sorted by worker (in the order found), engine, rank
  std::vector<std::string> extra;    // files of this session, but of no rank: front ends, merged
  std::vector<std::string> foreign;  // files of another session: their time differs
  std::vector<Finding> remarks;      // about proven ranks and `extra`
  bool complete = false;             // all ranks are proven, and no remark is a trouble

  // Ranks that are proven, but whose profiler lost rows or times.
  size_t Incomplete() const;
  // One finding for each rank that is not proven; causes come before their consequences.
  std::vector<Finding> Missing() const;
};

// Checks the files against what every worker must deliver, by their content: rank, world size, pid,
// time window, steps. A file's name or an answer of 200 proves nothing. A pure function; the order
// of `traces` does not matter.
Proof Prove(const std::vector<WorkerExpectation>& workers, std::vector<TraceEvidence> traces);

}  // namespace tacho
