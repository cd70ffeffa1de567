#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/missing_work.h"
#include "analysis/steps.h"
#include "model/rank_identity.h"
#include "model/trace.h"

namespace tacho {

// What a file is within a run, by its content.
enum class TraceRole : uint8_t {
  kWorker,    // a rank that executes the model
  kFrontend,  // an API server's or scheduler's own trace: no operator and no GPU work
  kMerged,    // several ranks in one file (SGLang's merger): pids are texts like "[TP00] 123"
};
constexpr size_t kTraceRoleCount = 3;
std::string_view TraceRoleName(TraceRole role);

// What a trace says about itself, and what it does not.
struct TraceFacts {
  TraceRole role = TraceRole::kWorker;
  std::string engine;          // "vllm", "sglang"; "" when unknown
  std::string engine_version;  // "" when unknown
  std::optional<int64_t> rank, world_size;
  // AnalyzeRun sets these, which knows the paths.
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
TraceFacts GatherFacts(const Trace& trace);
// Of these the role, the names of processes, rank and world size: without the rows of the trace,
// whose number is `work`. Cost: of the names alone.
TraceFacts WhoWrote(const TraceBasics& trace, const RecordedWork& work);

// The stage that SGLang profiled when it profiles by stage: "prefill" or "decode" if the file's
// name ends in it ("...-TP-0-EXTEND.trace.json.gz") and a step is of that phase; else "". A request
// that came while decode was profiled has its prefill in that file.
std::string StageOf(std::string_view path, const StepTable& steps);

}  // namespace tacho
