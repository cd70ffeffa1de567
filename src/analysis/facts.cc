#include "analysis/facts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/device/graph_capture.h"
#include "analysis/index/arg_reader.h"
#include "analysis/index/name_index.h"
#include "analysis/names/producer.h"
#include "analysis/ranks/merged_ranks.h"
#include "analysis/steps/step_grammar.h"
#include "base/capture_file.h"
#include "base/parse_number.h"

namespace tacho {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether a process name is that of an engine's rank: "VLLM::Worker_TP1", "sglang::scheduler_DP0".
bool IsEngineWorker(std::string_view process) {
  return Contains(process, "VLLM::Worker") || Contains(process, "sglang::scheduler");
}

// The number after `mark` in a name such as "VLLM::Worker_PP0_TP1".
std::optional<int64_t> NumberBehind(std::string_view name, std::string_view mark) {
  const size_t at = name.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  name.remove_prefix(at + mark.size());
  const auto value = TakeNumber<int64_t>(name);
  return value && *value >= 0 ? value : std::nullopt;
}

// The rank is the tensor-parallel number. It is unknown for a process in a later pipeline stage,
// because the name does not tell how many ranks a stage has. The data-parallel number is not used,
// because each data-parallel engine counts its ranks from 0.
std::optional<int64_t> RankOfProcess(std::string_view process) {
  if (!IsEngineWorker(process) || NumberBehind(process, "_PP").value_or(0) > 0) return std::nullopt;
  return NumberBehind(process, "_TP");
}

std::vector<std::string> ProcessNames(const Vocabulary& words) {
  std::set<std::string_view> names;
  for (const Process& process : words.processes()) {
    if (process.name != StringId::kEmpty) names.insert(words[process.name]);
  }
  return {names.begin(), names.end()};
}

bool IsOfNsys(const TraceBasics& trace) { return trace.header.format == TraceFormat::kNsys; }

// The pids of processes that ran operators or calls. Other rows may have a pid that is not one of a
// process: GPUs and the profiler have such rows.
std::vector<int64_t> Pids(const Trace& trace) {
  std::vector<bool> runs(trace.words.tracks().size());
  for (const TrackId track : trace.host_ops.track) runs[Index(track)] = true;
  for (const TrackId track : trace.host_calls.track) runs[Index(track)] = true;
  // In nsys all rows belong to processes.
  if (IsOfNsys(trace)) runs.assign(runs.size(), true);
  std::set<int64_t> pids;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i]) continue;
    if (const auto pid = trace.words[trace.words.tracks()[i].process].number) pids.insert(*pid);
  }
  return {pids.begin(), pids.end()};
}

bool IsMerged(const TraceBasics& trace) {
  return std::ranges::any_of(trace.words.processes(), [](const Process& process) {
    return process.rank != StringId::kEmpty;
  });
}

// Whether a process of this name belongs to an engine but is not a rank: "VLLM::APIServer".
bool IsFrontEnd(std::string_view process) {
  return (Contains(process, "VLLM::") || Contains(process, "sglang::")) && !IsEngineWorker(process);
}

// Looks for the mark that vLLM puts into the file name of its front end's trace. The header keeps
// it when the file is renamed.
bool IsFrontEndFile(const TraceBasics& trace, std::string_view path) {
  constexpr std::string_view kMark = ".async_llm.";
  return Contains(path.substr(path.find_last_of("/:") + 1), kMark) ||
         std::ranges::any_of(trace.header.fields, [&](const auto& field) {
           return field.first == "traceName" && Contains(field.second, kMark);
         });
}

bool HasWork(const RecordedWork& work) {
  return work.gpu_events + work.host_ops + work.host_calls > 0;
}

// Whether the trace says that it is of a rank. Even a rank that did nothing says so.
bool SaysRank(const TraceBasics& trace, const std::vector<std::string>& processes) {
  return trace.header.rank >= 0 || !trace.header.devices.empty() ||
         std::any_of(processes.begin(), processes.end(), IsEngineWorker);
}

// Finds the role from signs that are there; what is missing proves nothing.
TraceRole RoleOf(const TraceBasics& trace, const RecordedWork& work,
                 const std::vector<std::string>& processes, std::string_view path) {
  std::set<int64_t> ranks;
  for (const std::string& process : processes) {
    if (const auto rank = RankOfProcess(process)) ranks.insert(*rank);
  }
  if (IsMerged(trace) || ranks.size() > 1 || work.several_processes) return TraceRole::kMerged;
  if (work.captures || (IsCaptureFile(path) && work.gpu_events == 0)) return TraceRole::kCapture;
  if (HasWork(work) || SaysRank(trace, processes) || trace.counts.total == 0) {
    return TraceRole::kWorker;
  }
  // A process may have any role if nsys recorded only its ranges or OS calls.
  if (IsOfNsys(trace) || trace.notes.CountOf(NoteId::kDeviceRowsNotRead) > 0) {
    return TraceRole::kWorker;
  }
  if (!trace.header.vllm_version.empty() || IsFrontEndFile(trace, path) ||
      std::any_of(processes.begin(), processes.end(), IsFrontEnd)) {
    return TraceRole::kFrontend;
  }
  return IsTorchs(trace) ? TraceRole::kWorker : TraceRole::kForeign;
}

// The engine shown by the names in `table`. Calls `engine_of` once for each name. Patched builds of
// other engines also write vLLM's step names, so a sign of another engine wins.
template <typename EngineOf>
std::string_view EngineByNames(const Trace& trace, const SliceTable& table, EngineOf engine_of) {
  std::string_view engine;
  NameIndex names(trace);
  for (size_t row = 0; row < table.size(); ++row) {
    const size_t known = names.size();
    if (names[table.name[row]] < known) continue;
    const std::string_view told = engine_of(trace.Text(table.name[row]));
    if (!told.empty()) engine = told;
    if (!engine.empty() && engine != "vllm") break;
  }
  return engine;
}

std::string_view EngineByAnnotation(std::string_view name) {
  if (const auto step = ParseStep(name); step && step->engine != "torch") return step->engine;
  if (name.starts_with("gpu_model_runner: ")) return "vllm";
  return name == "scheduler.run_batch" || name == "scheduler.recv_requests" ? "sglang" : "";
}

// Whether `folders` stands in `path` at the start of a folder name: "vllm/v1/" does in
// "/opt/vllm/v1/engine/core.py(301): step", but not in "nanovllm/v1/engine.py(7): step".
bool HasFolders(std::string_view path, std::string_view folders) {
  for (size_t at = path.find(folders); at != std::string_view::npos;
       at = path.find(folders, at + 1)) {
    if (at == 0 || path[at - 1] == '/' || path[at - 1] == '\\') return true;
  }
  return false;
}

std::string_view EngineByFrame(std::string_view name) {
  if (HasFolders(name, "vllm/v1/") || HasFolders(name, "vllm/engine/")) return "vllm";
  return HasFolders(name, "sglang/srt/") ? "sglang" : "";
}

std::string EngineOf(const Trace& trace, const std::vector<std::string>& processes) {
  if (!trace.header.vllm_version.empty()) return "vllm";
  for (const std::string& process : processes) {
    if (Contains(process, "VLLM::")) return "vllm";
    if (Contains(process, "sglang::")) return "sglang";
  }
  std::string_view engine = EngineByNames(trace, trace.annotations, EngineByAnnotation);
  // If a file is cut off, the host's annotations may be lost while GPU annotations remain.
  if (engine.empty()) engine = EngineByNames(trace, trace.gpu_annotations, EngineByAnnotation);
  for (const Track& track : trace.words.tracks()) {
    if (!engine.empty()) break;
    const std::string_view thread = trace.Text(track.name);
    if (Contains(thread, "VLLM::")) engine = "vllm";
    if (Contains(thread, "sglang::")) engine = "sglang";
  }
  if (engine.empty()) engine = EngineByNames(trace, trace.python_frames, EngineByFrame);
  return std::string(engine);
}

void AddCounts(const Trace& trace, TraceFacts& facts) {
  facts.by_phase.assign(trace.counts.by_label.begin(), trace.counts.by_label.end());
  for (size_t i = 0; i < trace.words.categories().size(); ++i) {
    const uint64_t count = trace.counts.complete_by_category[i];
    if (count > 0)
      facts.by_category.emplace_back(trace.Text(trace.words.categories()[i].name), count);
  }
  std::sort(facts.by_category.begin(), facts.by_category.end());
}

bool HasShapes(const Trace& trace) {
  const ArgReader dims(trace, "Input Dims", "Input dims");
  return dims.anywhere();
}

// Why the file gives no figures of a rank; "" if it does.
std::string_view TellsNothing(const TraceFacts& facts) {
  if (facts.mixed_ranks) {
    return "what any rank did, because the file holds several as one: give the ranks' own files";
  }
  switch (facts.role) {
    case TraceRole::kFrontend:
      return "what the model did, because this is a front end's trace: it has no operator and no "
             "GPU work";
    case TraceRole::kForeign:
      return "what a model did, because another program wrote this Chrome trace: it has no "
             "operator of torch's, no step and no GPU work";
    case TraceRole::kCapture:
      return "what serving takes, because this is a recording of graph capture: the graphs do not "
             "run in it";
    case TraceRole::kWorker:
    case TraceRole::kMerged:
      break;
  }
  return "";
}

void SayWhatIsMissing(const Trace& trace, TraceFacts& facts) {
  if (trace.counts.total == 0) return;  // the note on the empty trace is enough
  std::vector<std::string>& out = facts.cannot_tell;
  const bool is_kineto = trace.header.format == TraceFormat::kKineto;
  if (trace.notes.lost_data()) {
    out.emplace_back(
        "exact totals, because events are missing (see the notes): sums are lower bounds");
  }
  if (const std::string_view nothing = TellsNothing(facts); !nothing.empty()) {
    out.emplace_back(nothing);
    return;
  }
  // FindSteps gives a method even if no step ran, provided that the header has the engine's
  // version: such an engine annotates its steps.
  if (const std::string method = FindSteps(trace).method; method.empty()) {
    out.emplace_back("steps and their phases, because the trace has no step annotation");
  } else if (method == "part") {
    out.emplace_back(
        "the phases of steps and how long these are exactly, because a range that stands for each "
        "is all that names them");
  }
  if (trace.gpu.size() == 0) {
    out.emplace_back("GPU time, because no GPU event was recorded");
  } else if (trace.host_calls.size() == 0) {
    out.emplace_back("launch delays and queue depths, because no runtime call was recorded");
  }
  if (trace.host_ops.size() == 0) {
    out.emplace_back(is_kineto ? "which operator did what, because no operator was recorded"
                               : "which operator did what, because torch wrote no NVTX of its "
                                 "operators (torch.autograd.profiler.emit_nvtx)");
  } else if (!HasShapes(trace)) {
    out.emplace_back("input shapes, because record_shapes was off");
  }
  if (facts.python_stacks) {
    out.emplace_back(
        "true host times, because with_stack was on: it inflates them, idle time included");
  } else if (trace.host_ops.size() > 0) {
    out.emplace_back(is_kineto ? "which Python code ran, because with_stack was off"
                               : "which Python code ran, because its frames were not recorded");
  }
  if (facts.role == TraceRole::kMerged) {
    out.emplace_back("each rank apart, because the file merges several: give the ranks' own files");
  } else if (!facts.rank) {
    out.emplace_back(is_kineto ? "the rank, because neither the header nor a process name tells it"
                               : "the rank, because no process name tells it");
  }
  if (trace.header.base_time_ns < 0) {
    out.emplace_back(is_kineto
                         ? "the time of day, because the header has no baseTimeNanoseconds"
                         : "the time of day, because the export shifted its times, or does not "
                           "say when they began");
  }
}

}  // namespace

std::string_view TraceRoleName(TraceRole role) {
  switch (role) {
    case TraceRole::kWorker:
      return "worker";
    case TraceRole::kFrontend:
      return "frontend";
    case TraceRole::kMerged:
      return "merged";
    case TraceRole::kCapture:
      return "capture";
    case TraceRole::kForeign:
      return "foreign";
  }
  return "";
}

TraceFacts WhoWrote(const TraceBasics& trace, const RecordedWork& work, std::string_view path) {
  TraceFacts facts;
  const TraceHeader& header = trace.header;
  facts.process_names = ProcessNames(trace.words);
  facts.role = RoleOf(trace, work, facts.process_names, path);
  if (facts.role == TraceRole::kForeign) facts.producer = ProducerOf(trace);
  if (header.world_size >= 0) facts.world_size = header.world_size;
  if (header.rank >= 0 && !work.several_processes)
    // The header of a merged file has the rank of its first rank only.
    facts.rank = header.rank;
  if (facts.role == TraceRole::kWorker) {
    for (const std::string& process : facts.process_names) {
      if (!facts.rank) facts.rank = RankOfProcess(process);
    }
  }
  return facts;
}

TraceFacts GatherFacts(const Trace& trace, std::string_view path) {
  const RecordedWork work = WorkOf(trace);
  TraceFacts facts = WhoWrote(trace, work, path);
  const TraceHeader& header = trace.header;
  facts.pids = Pids(trace);
  facts.engine = EngineOf(trace, facts.process_names);
  const RanksInside ranks = FindRanksInside(trace);
  facts.mixed_ranks = ranks == RanksInside::kMixed;
  if (ranks != RanksInside::kOne) {
    facts.role = TraceRole::kMerged;
    facts.rank.reset();
  } else if (facts.role == TraceRole::kWorker || facts.role == TraceRole::kCapture) {
    facts.role = RecordsCapture(trace, path) ? TraceRole::kCapture : TraceRole::kWorker;
  }
  if (facts.role == TraceRole::kWorker && !facts.engine.empty() && !HasWork(work) &&
      !SaysRank(trace, facts.process_names) && !IsOfNsys(trace)) {
    facts.role = TraceRole::kFrontend;  // code of the engine ran, but none of its model
  }
  facts.engine_version = header.vllm_version;
  for (const auto& [on, option] :
       {std::pair{header.record_shapes, "record_shapes"},
        std::pair{header.with_stack, "with_stack"}, std::pair{header.with_flops, "with_flops"},
        std::pair{header.profile_memory, "profile_memory"},
        std::pair{header.with_modules, "with_modules"}}) {
    if (on) facts.options.emplace_back(option);
  }
  facts.python_stacks = trace.python_frames.size() > 0;
  AddCounts(trace, facts);
  SayWhatIsMissing(trace, facts);
  return facts;
}

std::string StageOf(std::string_view path, const StepTable& steps) {
  std::string_view name = path.substr(path.find_last_of("/:") + 1);
  name = name.substr(0, name.find(".trace.json"));
  Phase named = Phase::kOther;
  if (name.ends_with("-EXTEND") || name.ends_with("-prefill")) named = Phase::kPrefill;
  if (name.ends_with("-DECODE") || name.ends_with("-decode")) named = Phase::kDecode;
  if (named == Phase::kOther) return "";
  const bool has_one =
      std::ranges::any_of(steps.steps, [&](const Step& step) { return step.label.phase == named; });
  return has_one ? std::string(PhaseName(named)) : "";
}

}  // namespace tacho
