#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "control/launch/launch_plan.h"
#include "control/launch/profile_needs.h"
#include "control/version.h"

// Problems that recordings would have with an engine that is started in this way.

namespace tacho {
namespace {

// Seconds to write one step, measured with vLLM 0.32 and a model with 4 layers on a CPU. Real
// models have more layers.
constexpr double kStackSeconds = 0.5, kTableSeconds = 0.07, kPlainSeconds = 0.01;
constexpr double kTimesMoreLayers = 4;
constexpr int64_t kStepTimeoutSeconds = 300;  // vLLM's own default

constexpr std::string_view kProfilerConfig = "--profiler-config";

class ProfilerUseChecks {
 public:
  ProfilerUseChecks(const LaunchPlan& plan, const ProfilerFacts& profiler,
                    std::vector<Finding>& findings)
      : plan_(plan), profiler_(profiler), findings_(findings) {
    by_config_ = !Rule("config.profiler").empty();
  }

  void Run() {
    CheckDevice();
    if (auto not_read = FilesNotRead(Subject(), profiler_)) findings_.push_back(*not_read);
    if (profiler_.kind != "torch") return;
    CheckBounds();
    CheckFlush();
    CheckFrontEnd();
    if (Count("data-parallel-size") > 1)
      Add(FindingId::kRanksShareNames, "--data-parallel-size",
          "its engines name their trace files alike, and their tables of averages overwrite each "
          "other",
          "nothing to do: tacho tells the files apart by process");
    if (profiler_.captures_graphs.value_or(false) &&
        !plan_.Variable("VLLM_USE_V2_MODEL_RUNNER").value_or("").starts_with('0'))
      Add(FindingId::kGraphCaptureEmpty, std::string(kProfilerConfig),
          "capture_torch_profiler: vLLM's V2 model runner, the default if Triton is "
          "installed and no option needs what it lacks, writes no trace of the capture",
          "set VLLM_USE_V2_MODEL_RUNNER=0");
  }

 private:
  void Add(FindingId id, std::string subject, std::string evidence, std::string remedy) {
    findings_.push_back({id, std::move(subject), std::move(evidence), std::move(remedy)});
  }
  std::string_view Rule(std::string_view key) const {
    return EngineRule(plan_.kind, plan_.version, key);
  }
  int64_t Count(std::string_view option) const {
    return ParseWhole<int64_t>(plan_.Option(option).value_or("")).value_or(0);
  }
  std::string Subject() const {
    return by_config_ ? std::string(kProfilerConfig) : "VLLM_TORCH_PROFILER_DIR";
  }

  void CheckDevice() {
    if (!plan_.RunsOnCpu() || profiler_.kind == "torch") return;
    Add(FindingId::kNeedsGpu, Subject(),
        fmt::format("profiler {} needs an NVIDIA GPU, and this engine runs on a CPU: it does not "
                    "start",
                    *profiler_.kind),
        R"(use "profiler":"torch")");
  }

  void CheckBounds() {
    Worker server;
    server.url = Subject();
    EngineFacts facts;
    facts.kind = plan_.kind;
    facts.version = plan_.version;
    facts.profiler = profiler_;
    facts.profiler.has_http = true;
    if (auto obstacle = FindObstacle(server, facts, {})) findings_.push_back(std::move(*obstacle));
    std::ranges::move(FindRisks(server, facts, {}), std::back_inserter(findings_));
  }

  void CheckFlush() {
    const bool stacks = profiler_.with_stack.value_or(false);
    const bool table = profiler_.dump_table.value_or(true);
    const int64_t most = profiler_.max_iterations.value_or(0);
    const auto given = plan_.Variable("VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS");
    const int64_t timeout = ParseWhole<int64_t>(given.value_or("")).value_or(kStepTimeoutSeconds);
    const double a_step = stacks ? kStackSeconds : table ? kTableSeconds : kPlainSeconds;
    if (static_cast<double>(most) * a_step * kTimesMoreLayers > static_cast<double>(timeout))
      Add(FindingId::kFlushInStep, Subject(),
          fmt::format("{} steps {}: vLLM writes them inside an engine step, which may take {} s; a "
                      "small model took {:.2g} s for each",
                      most, stacks ? "with Python stacks" : "in one trace", timeout, a_step),
          fmt::format(
              "a smaller max_iterations, or VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS={}",
              static_cast<int64_t>(static_cast<double>(most) * a_step * kTimesMoreLayers * 2)));
    if (!by_config_) return;
    std::string what, fields;
    const auto costs = [&](bool on, std::string_view words, std::string_view field) {
      if (!on) return;
      what += fmt::format("{}{}", what.empty() ? "" : ", ", words);
      fields += fmt::format("{}\"{}\":false", fields.empty() ? "" : ",", field);
    };
    costs(stacks && !plan_.stacks_are_meant, "Python stacks", "torch_profiler_with_stack");
    costs(table && !plan_.RunsOnCpu(), "a table of averages",
          "torch_profiler_dump_cuda_time_total");
    costs(profiler_.use_gzip.value_or(true), "gzip", "torch_profiler_use_gzip");
    if (!what.empty())
      Add(FindingId::kFlushCostly, std::string(kProfilerConfig),
          fmt::format("/stop_profile takes long, and the engine serves nobody meanwhile: {}", what),
          fmt::format("set {}", fields));
  }

  void CheckFrontEnd() {
    if (!by_config_ || profiler_.ignore_frontend.value_or(false)) return;
    const int64_t servers = std::max(Count("api-server-count"), Count("data-parallel-size"));
    if (servers > 1 && Rule("several_front_ends") == "off") return;
    if (servers > 1)
      Add(FindingId::kSeveralFrontEnds, std::string(kProfilerConfig),
          fmt::format("{} API servers each have a profiler, and /stop_profile may reach another "
                      "one than /start_profile did",
                      servers),
          R"(set "ignore_frontend":true)");
    else
      Add(FindingId::kFrontEndProfiled, std::string(kProfilerConfig),
          "vLLM also profiles its API server: one more file, without GPU work, and a longer stop",
          R"(set "ignore_frontend":true)");
  }

  const LaunchPlan& plan_;
  const ProfilerFacts& profiler_;
  std::vector<Finding>& findings_;
  bool by_config_;
};

}  // namespace

void CheckProfilerUse(const LaunchPlan& plan, const ProfilerFacts& profiler,
                      std::vector<Finding>& findings) {
  ProfilerUseChecks(plan, profiler, findings).Run();
}

}  // namespace tacho
