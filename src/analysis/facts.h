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

// What kind of trace a file is, judged by its content.
enum class TraceRole : uint8_t {
  kWorker,    // of a rank that runs the model
  kFrontend,  // of an API server or scheduler: it shows that, and has no operators and no GPU work
  kMerged,    // several ranks in one file (SGLang's merger): pids are texts such as "[TP00] 123"
  kCapture,   // a recording of graph capture when the engine started (graph_capture.h)
  kForeign,   // a Chrome trace of another program: nothing from torch and no GPU work
};
constexpr size_t kTraceRoleCount = 5;
std::string_view TraceRoleName(TraceRole role);
// Whether traces of this role may count in the figures of a run.
constexpr bool IsRank(TraceRole role) {
  return role == TraceRole::kWorker || role == TraceRole::kMerged;
}

// What a trace tells about itself, and what it cannot tell.
struct TraceFacts {
  TraceRole role = TraceRole::kWorker;
  std::string engine;          // "vllm", "sglang"; "" when unknown
  std::string engine_version;  // "" when unknown
  std::string producer;        // the program that wrote a foreign trace; "" when unknown
  std::optional<int64_t> rank, world_size;
  // The file holds several ranks whose work cannot be separated, so no figure belongs to one rank.
  bool mixed_ranks = false;
  // Set by AnalyzeRun, which knows the paths of all traces.
  std::string stage;                       // from StageOf
  RankIdentity identity;                   // from IdentityOf, with the stage
  std::vector<std::string> process_names;  // sorted, distinct
  std::vector<int64_t> pids;               // of processes that ran something; sorted, distinct
  std::vector<std::pair<std::string, uint64_t>> by_phase;  // as in EventCounts::by_label
  // Complete events, counted by category.
  std::vector<std::pair<std::string, uint64_t>> by_category;
  std::vector<std::string> options;      // profiler options that were on
  bool python_stacks = false;            // Python frames were recorded, which slows the host
  std::vector<std::string> cannot_tell;  // "..., because ..."; empty: nothing is missing
};
// `path`: the trace's file, because its name may tell what the trace is; "" if there is no file.
TraceFacts GatherFacts(const Trace& trace, std::string_view path = {});
// Only the role, the names of processes, rank and world size. Does not read the rows of the trace;
// `work` tells how many there are. Cost: O(names).
TraceFacts WhoWrote(const TraceBasics& trace, const RecordedWork& work, std::string_view path = {});

// The stage ("prefill" or "decode") if SGLang profiled its stages into separate traces; else "".
// The name of such a file ends in the stage ("...-TP-0-EXTEND.trace.json.gz"), and one of its steps
// must have that phase. The file of the decode stage also holds prefills of requests that arrived
// meanwhile.
std::string StageOf(std::string_view path, const StepTable& steps);

}  // namespace tacho
