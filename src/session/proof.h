#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/engine.h"

namespace tacho {

// What was read in one trace file, as far as the proof needs it. The command fills it from the one
// reading that also feeds the analysis.
struct TraceEvidence {
  std::string path;
  std::optional<int> rank, world_size;
  std::optional<std::string> engine;  // "vllm", "sglang"
  std::vector<int64_t> pids;          // of the processes in it
  std::vector<std::string> process_names;
  std::optional<int64_t> first_unix_ns, last_unix_ns;  // of its events
  uint64_t events = 0, gpu_events = 0;
  std::optional<uint64_t> steps;  // not counting empty ones
  bool front_end = false;         // an API server's own trace
  bool whole = true;              // trailer, closing brackets, no half event
  std::string defect;             // why not whole
};

// What one worker owes.
struct WorkerExpectation {
  std::string url;
  EngineFacts facts;
  std::optional<int64_t> steps_asked;
  std::optional<int64_t> steps_by_metrics;  // engine steps between start and stop, by its counters
  int64_t start_unix_ns = 0, stop_unix_ns = 0;
  std::vector<std::string> files;  // that appeared for this worker, by collection
};

enum class ProofState { kProven, kIncomplete };
struct RankProof {
  std::string worker_url;
  int rank = 0;
  int data_parallel_rank = 0;
  std::string path;  // "" when missing
  std::optional<uint64_t> steps;
  ProofState state = ProofState::kIncomplete;
  std::string why;  // of what is missing: the likely cause, and the remedy
};
struct Proof {
  std::vector<RankProof> ranks;      // by worker, data parallel rank, rank
  std::vector<std::string> extra;    // files of this session that no rank owed: front ends, merged
  std::vector<std::string> foreign;  // files of the folder that are not of this session
  bool complete = false;
};

// Holds the files against what every worker owes, by content: rank, world, pid, time window; never
// by name alone. An order-free pure function.
Proof Prove(const std::vector<WorkerExpectation>& workers,
            const std::vector<TraceEvidence>& traces);

}  // namespace tacho
