#include "simulate/known/known_run.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/random.h"
#include "simulate/engine/step_plan.h"
#include "simulate/trace/trace_writer.h"

namespace tacho::simulate {
namespace {

constexpr int64_t kMostRanks = 64, kMostSteps = 100'000, kMostLayers = 1000;
constexpr int64_t kMostRequests = 4096, kMostTokens = 1'000'000;
constexpr int64_t kFirstRunNs = 1'795'261'781'000'000'000;  // Unix time
constexpr int64_t kFirstPid = 5'000'010;

void Make(const Change& change, LoadMix& mix) {
  if (change.kind == ChangeKind::kRequests) mix.requests = change.amount;
  if (change.kind == ChangeKind::kPrompts) mix.prompt_tokens = change.amount;
}

// Makes a decode step verify `proposed` tokens of each request.
void Speculate(int64_t proposed, StepLoad& load) {
  StepLoad::Part& part = load.generation;
  const int64_t tokens = proposed + 1;
  load.proposed = proposed;
  load.sampled = part.tokens = part.requests * tokens;
  part.kv += part.requests * proposed;
  part.tokens_squared = part.requests * tokens * tokens;
  part.tokens_times_kv = part.kv * tokens;
}

Result<void> Check(const KnownRunOptions& options) {
  const auto bound = [](std::string_view what, int64_t value, int64_t least,
                        int64_t most) -> Result<void> {
    if (value >= least && value <= most) return {};
    return Fail(ErrorKind::kUsage, fmt::format("{} is {} to {}, not {}", what, least, most, value));
  };
  TACHO_RETURN_IF_ERROR(bound("the number of ranks", options.ranks, 1, kMostRanks));
  TACHO_RETURN_IF_ERROR(bound("the number of steps", options.steps, 1, kMostSteps));
  TACHO_RETURN_IF_ERROR(bound("the number of layers", options.layers, 0, kMostLayers));
  TACHO_RETURN_IF_ERROR(bound("the number of requests", options.mix.requests, 1, kMostRequests));
  TACHO_RETURN_IF_ERROR(bound("the length of a prompt", options.mix.prompt_tokens, 1, kMostTokens));
  TACHO_RETURN_IF_ERROR(
      bound("the length of an answer", options.mix.output_tokens, 1, kMostTokens));
  for (size_t i = 0; i < options.graph_sizes.size(); ++i) {
    const int64_t least = i == 0 ? 1 : options.graph_sizes[i - 1] + 1;
    TACHO_RETURN_IF_ERROR(
        bound("a batch of --graph-sizes", options.graph_sizes[i], least, kMostRequests));
  }
  TACHO_RETURN_IF_ERROR(bound("the number of proposed tokens", options.proposed, 0, 16));
  for (const Change& change : options.changes) {
    if (!ChangesOneRank(change.kind) || change.rank < options.ranks) continue;
    return Fail(ErrorKind::kUsage,
                fmt::format("change {}: there is no rank {}", TextOf(change), change.rank));
  }
  return {};
}

TraceSource SourceOf(const KnownRunOptions& options, const CostModel& cost, int64_t rank) {
  TraceSource source;
  const bool vllm = options.engine == SimulatedEngine::kVllm;
  source.engine = options.engine;
  source.version = vllm ? "0.32.0" : "0.5.23";
  source.stamps_version = vllm;
  source.with_stack = options.with_stack;
  source.names = vllm ? (options.detailed ? StepNames::kContextDetailed : StepNames::kContext)
                      : (options.detailed ? StepNames::kSglangDetailed : StepNames::kSglang);
  source.scopes = !vllm;
  source.cost = cost;
  source.seed = options.seed;
  source.rank = source.rank_in_step = source.device = static_cast<int>(rank);
  source.world_size = source.visible_devices = static_cast<int>(options.ranks);
  source.pid = kFirstPid + rank;
  source.process_name = !vllm               ? fmt::format("sglang::scheduler_TP{}", rank)
                        : options.ranks > 1 ? fmt::format("VLLM::Worker_TP{}", rank)
                                            : "VLLM::Worker";
  source.host_name = "sim";
  source.first_external_id = 24'065;
  source.first_correlation = 675'771;
  return source;
}

class StringSink : public ByteSink {
 public:
  explicit StringSink(std::string& text) : text_(text) {}
  bool Write(std::string_view bytes) override {
    text_ += bytes;
    return true;
  }

 private:
  std::string& text_;
};

}  // namespace

Result<KnownRun> BeginKnownRun(const KnownRunOptions& options) {
  TACHO_RETURN_IF_ERROR(Check(options));
  std::string model = options.model;
  int64_t layers = options.layers;
  CostModel cost;
  for (const Change& change : options.changes) {
    if (change.kind == ChangeKind::kModel) model = change.model;
    if (change.kind == ChangeKind::kLayers) layers = change.amount;
    if (!ChangesWholeRun(change.kind)) cost.changes.push_back(change);
  }
  TACHO_ASSIGN_OR_RETURN(cost.model, FindModelShape(model));
  TACHO_ASSIGN_OR_RETURN(cost.hardware, FindHardware(options.hardware));
  if (layers > 0) cost.model.layers = static_cast<int>(layers);
  for (const Change& change : options.changes) {
    const bool serial = change.kind == ChangeKind::kSerial;
    if (change.kind == ChangeKind::kSlowExperts ? cost.model.experts > 0
                                                : !serial || cost.model.shared > 0)
      continue;
    return Fail(ErrorKind::kUsage, fmt::format("change {}: {} has no {}", TextOf(change), model,
                                               serial ? "shared expert" : "experts"));
  }
  cost.sends_tokens = options.engine == SimulatedEngine::kSglang;
  cost.tensor_parallel = static_cast<int>(options.ranks);
  cost.speed = options.speed;
  cost.noise = options.noise;
  cost.graph_sizes = options.graph_sizes;

  KnownRun run;
  run.options = options;
  for (int64_t rank = 0; rank < options.ranks; ++rank) {
    run.sources.push_back(SourceOf(options, cost, rank));
    run.sources.back().trace_name = KnownTraceName(run, rank);
  }
  run.recording.start_ns = run.recording.end_ns =
      kFirstRunNs + static_cast<int64_t>(HashNumber(options.seed) % 1'000'000) * 1'000'000;
  return run;
}

const StepPlan& AddKnownStep(KnownRun& run, const StepLoad& load, int64_t start_ns,
                             bool after_idle) {
  Recording& recording = run.recording;
  const uint64_t index = recording.steps.size();
  recording.steps.push_back(
      {index, start_ns, load, {}, static_cast<int64_t>(index) + 1, true, after_idle});
  recording.plans.push_back(
      PlanStep(run.options.engine, run.sources.front().cost, load, run.options.seed, index));
  const StepPlan& plan = recording.plans.back();
  recording.end_ns = start_ns + plan.duration_ns + kAroundNs;
  return plan;
}

Result<KnownRun> MakeKnownRun(const KnownRunOptions& options) {
  TACHO_ASSIGN_OR_RETURN(KnownRun run, BeginKnownRun(options));
  const bool mixes = options.engine == SimulatedEngine::kVllm;
  LoadMix mix = options.mix;
  for (const Change& change : options.changes) Make(change, mix);
  int64_t now = run.recording.start_ns + kAroundNs;
  for (StepLoad& load : LoadsOf(mix, mixes, options.steps, options.load_seed)) {
    const size_t index = run.recording.steps.size();
    if (options.proposed > 0 && load.context.requests == 0 && !load.empty() && index % 4 != 3)
      Speculate(options.proposed, load);
    now += AddKnownStep(run, load, now, index == 0).duration_ns;
  }
  return run;
}

Result<KnownRun> WithoutChanges(KnownRunOptions options) {
  options.changes.clear();
  return MakeKnownRun(options);
}

std::string KnownTrace(const KnownRun& run, int64_t rank) {
  std::string json;
  StringSink sink(json);
  WriteKinetoTrace(run.sources.at(static_cast<size_t>(rank)), run.recording, sink);
  return json;
}

std::string KnownTraceName(const KnownRun& run, int64_t rank) {
  if (run.options.engine == SimulatedEngine::kVllm)
    return fmt::format("rank{}.{}.pt.trace.json", rank, run.options.seed);
  return fmt::format("{}-TP-{}.trace.json", run.options.seed, rank);
}

std::string KnownExportName(const KnownRun& run) {
  return fmt::format("run.{}.sqlite", run.options.seed);
}

bool IsKnownExportName(std::string_view name) {
  constexpr std::string_view kBegin = "run.", kEnd = ".sqlite";
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return false;
  name.remove_prefix(kBegin.size());
  return ParseWhole<uint64_t>(name.substr(0, name.size() - kEnd.size())).has_value();
}

}  // namespace tacho::simulate
