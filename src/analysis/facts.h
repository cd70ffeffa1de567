#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/device/missing_work.h"
#include "analysis/steps/steps.h"
#include "model/rank_identity.h"
#include "model/trace.h"

namespace tacho {

// What a file is within a run, by its content.
enum class TraceRole : uint8_t {
  kWorker,    // a rank that executes the model
  kFrontend,  // an API server's or scheduler's own trace, which says so: no operator, no GPU work
  kMerged,    // several ranks in one file (SGLang's merger): pids are texts like "[TP00] 123"
  kCapture,   // a recording of graph capture when the engine started (graph_capture.h)
  kForeign,   // a Chrome trace of another producer: nothing of torch's and no GPU work
};
constexpr size_t kTraceRoleCount = 5;
std::string_view TraceRoleName(TraceRole role);
// Whether traces of this role may be part of the figures of a run.
constexpr bool IsRank(TraceRole role) {
  return role == TraceRole::kWorker || role == TraceRole::kMerged;
}

// What a trace says about itself, and what it does not.
struct TraceFacts {
  TraceRole role = TraceRole::kWorker;
  std::string engine;          // "vllm", "sglang"; "" when unknown
  std::string engine_version;  // "" when unknown
  std::string producer;        // of a foreign trace; "" when unknown
  std::optional<int64_t> rank, world_size;
  // A merged file whose ranks cannot be told apart: no figure is one rank's.
  bool mixed_ranks = false;
  // AnalyzeRun sets these two, because it knows the paths.
  std::string stage;                       // by StageOf
  RankIdentity identity;                   // by IdentityOf, with the stage
  std::vector<std::string> process_names;  // sorted, distinct
  std::vector<int64_t> pids;               // of the processes that ran something, sorted, distinct
  std::vector<std::pair<std::string, uint64_t>> by_phase;     // as in EventCounts::by_label
  std::vector<std::pair<std::string, uint64_t>> by_category;  // complete events; by category
  std::vector<std::string> options;                           // profiler options that were on
  bool python_stacks = false;            // Python frames were recorded, which slows the host
  std::vector<std::string> cannot_tell;  // "..., because ..."; empty: nothing is missing
};
// `path`: the trace's file, whose name may say what the trace is; "" if it has none.
TraceFacts GatherFacts(const Trace& trace, std::string_view path = {});
// Only the role, the names of processes, rank and world size. Does not read the rows of the trace:
// `work` says how many there are. Cost: O(names).
TraceFacts WhoWrote(const TraceBasics& trace, const RecordedWork& work, std::string_view path = {});

// The stage that SGLang profiled when it profiles by stage: "prefill" or "decode" if the file's
// name ends in it ("...-TP-0-EXTEND.trace.json.gz") and a step is of that phase; else "". A request
// that came while decode was profiled has its prefill in that file.
std::string StageOf(std::string_view path, const StepTable& steps);

}  // namespace tacho
