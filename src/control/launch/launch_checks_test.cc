#include "control/launch/launch_checks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "base/words.h"

namespace tacho {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

using Words = std::vector<std::string>;

// The findings for `vllm serve m` with the configuration `config` (without blanks) and the further
// words `more`.
std::vector<Finding> FindVllm(std::string_view version, const std::string& config,
                              std::string_view more = "", const Words& environment = {}) {
  Words words = WordsIn("vllm serve m");
  if (!config.empty()) words.insert(words.end(), {"--profiler-config", config});
  for (std::string& word : WordsIn(more)) words.push_back(std::move(word));
  return CheckLaunch(EngineKind::kVllm, version, words, environment);
}

std::vector<Finding> FindSglang(std::string_view more, const Words& environment = {}) {
  Words words = WordsIn("python -m sglang.launch_server --model m");
  for (std::string& word : WordsIn(more)) words.push_back(std::move(word));
  return CheckLaunch(EngineKind::kSglang, "0.5.23", words, environment);
}

Words NamesOf(const std::vector<Finding>& findings) {
  Words ids;
  for (const Finding& finding : findings) ids.emplace_back(KindOf(finding.id).id);
  return ids;
}

const Finding* FindingWith(const std::vector<Finding>& findings, FindingId id) {
  const auto found = std::ranges::find(findings, id, &Finding::id);
  return found == findings.end() ? nullptr : &*found;
}

// The configuration that tacho recommends.
constexpr char kSafe[] =
    R"({"profiler":"torch","torch_profiler_dir":"/t","torch_profiler_with_stack":false,)"
    R"("torch_profiler_use_gzip":false,"torch_profiler_dump_cuda_time_total":false,)"
    R"("ignore_frontend":true})";

TEST(CheckLaunch, ASafeLaunchHasNoFinding) {
  for (const char* version : {"", "0.13.0", "0.21.0", "0.32.0", "0.32.0+cpu"})
    EXPECT_THAT(NamesOf(FindVllm(version, kSafe)), IsEmpty()) << version;
  EXPECT_THAT(NamesOf(FindVllm("0.10.2", "", "", {"VLLM_TORCH_PROFILER_DIR=/t"})),
              UnorderedElementsAre("stacks-unknown"))
      << "these versions always record stacks";
  EXPECT_THAT(NamesOf(FindVllm("0.12.0", "", "",
                               {"VLLM_TORCH_PROFILER_DIR=/t", "VLLM_TORCH_PROFILER_WITH_STACK=0"})),
              IsEmpty());
  EXPECT_THAT(FindSglang("--enable-metrics"), IsEmpty());
  EXPECT_THAT(CheckLaunch(EngineKind::kUnknown, "", {"nginx"}, {"VLLM_RPC_TIMEOUT=1"}), IsEmpty());
}

TEST(CheckLaunch, AMisspeltProfilerConfigIsNamed) {
  const auto said = [](std::string_view options) {
    const auto findings = FindVllm("0.32.0", kSafe, options);
    const Finding* const unknown = FindingWith(findings, FindingId::kOptionUnknown);
    return unknown == nullptr ? "" : unknown->Text();
  };
  EXPECT_EQ(said("--profiler-confg {}"),
            "--profiler-confg: vLLM 0.32.0 has no such option, and does not start with it: did you "
            "mean --profiler-config?");
  EXPECT_THAT(said("--profile-config={}"), HasSubstr("did you mean --profiler-config?"));
  EXPECT_THAT(said("--profile_config.profiler torch"), HasSubstr("--profile-config: "));
  EXPECT_EQ(said("--pooler-config {} --port 1"), "");
  EXPECT_EQ(said("--profiler-conf {}"), "") << "argparse takes the beginning of an option";
}

TEST(CheckLaunch, SglangWithTwoKeys) {
  EXPECT_THAT(NamesOf(FindSglang("--api-key a --admin-api-key b")),
              UnorderedElementsAre("two-keys"));
  for (const char* more : {"--api-key a", "--admin-api-key a", "--api-key=a --admin-api-key a"})
    EXPECT_THAT(FindSglang(more), IsEmpty()) << more;
}

TEST(CheckLaunch, AServerWithoutProfiler) {
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", "")), UnorderedElementsAre("profiler-off"));
  EXPECT_THAT(FindVllm("0.10.0", "")[0].remedy, HasSubstr("VLLM_TORCH_PROFILER_DIR"));
  EXPECT_THAT(FindVllm("0.32.0", "")[0].remedy, HasSubstr("--profiler-config"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", "{}")), UnorderedElementsAre("profiler-off"));
  EXPECT_THAT(FindVllm("0.32.0", "", "--config c.yaml"), IsEmpty()) << "it may be in the file";
  EXPECT_THAT(FindVllm("0.32.0", "", "", {"KINETO_USE_DAEMON=1"}), IsEmpty());
}

TEST(CheckLaunch, KeysThatTheVersionDoesNotKnow) {
  const auto keys = [](std::string_view version, const std::string& config) {
    const std::vector<Finding> findings = FindVllm(version, config);
    const Finding* found = FindingWith(findings, FindingId::kConfigKeyUnknown);
    return found == nullptr ? "" : found->Words();
  };
  EXPECT_EQ(keys("0.32.0", R"({"max_iteration":5})"),
            "vLLM 0.32.0 does not know the key max_iteration, and does not start with it: did you "
            "mean max_iterations?");
  EXPECT_EQ(keys("0.17.0", R"({"warmup_iterations":1})"),
            "vLLM 0.17.0 does not know the key warmup_iterations, which other versions do, and "
            "does not start with it: leave it out");
  EXPECT_EQ(
      keys("0.18.0", R"({"profiler":"torch","torch_profiler_dir":"/t","warmup_iterations":1})"),
      "");
  EXPECT_THAT(keys("0.32.0", R"({"zzzzzzzzzzzzzz":1})"), HasSubstr("leave it out"));
  EXPECT_THAT(keys("", R"({"nosuch":1})"), HasSubstr("vLLM does not know"));
  EXPECT_THAT(NamesOf(FindVllm("0.21.0", R"({"profiler":"proton"})")),
              UnorderedElementsAre("config-unreadable"));
}

TEST(CheckLaunch, ConfigurationsThatVllmCannotRead) {
  for (const char* config : {"{profiler:torch}",
                             "torch",
                             "[]",
                             "5",
                             "{",
                             R"({"profiler":"torch"}x)",
                             R"({"profiler":7})",
                             R"({"profiler":"nsys"})",
                             R"({"max_iterations":-1})",
                             R"({"max_iterations":null})",
                             R"({"max_iterations":1.5})",
                             R"({"max_iterations":"x"})",
                             R"({"max_iterations":"1k"})",
                             R"({"active_iterations":0})",
                             R"({"torch_profiler_with_stack":2})",
                             R"({"torch_profiler_with_stack":"maybe"})",
                             R"({"torch_profiler_with_stack":null})",
                             R"({"torch_profiler_dir":null})",
                             R"({"torch_profiler_dir":7})",
                             R"({"torch_profiler_activities":["GPU"]})",
                             R"({"torch_profiler_activities":[]})",
                             R"({"torch_profiler_activities":"CPU"})"})
    EXPECT_THAT(NamesOf(FindVllm("0.32.0", config)), UnorderedElementsAre("config-unreadable"))
        << config;
  EXPECT_THAT(FindVllm("0.32.0", "{profiler:torch}")[0].remedy, HasSubstr("shell"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", "", "--profiler-config")),
              UnorderedElementsAre("config-unreadable"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", "", "--profiler-config.profiler=nsys")),
              UnorderedElementsAre("config-unreadable"));
}

TEST(CheckLaunch, ValuesThatVllmConverts) {
  for (const char* field :
       {R"("max_iterations":"3")", R"("max_iterations":3.0)", R"("max_iterations":true)",
        R"("max_iterations":"+1_0")", R"("active_iterations":"3.0")",
        R"("proton_graph_attribution":"NO")", R"("torch_profiler_with_memory":"no")",
        R"("torch_profiler_with_memory":0)", R"("torch_profiler_activities":null)"}) {
    std::string config = kSafe;
    config.insert(config.size() - 1, "," + std::string(field));
    EXPECT_THAT(NamesOf(FindVllm("0.32.0", config)), IsEmpty()) << config;
  }
  EXPECT_THAT(
      NamesOf(FindVllm("0.32.0", "",
                       "--profiler_config.profiler torch --profiler-config.torch_profiler_dir=/t "
                       "--profiler-config.max_iterations 1k "
                       "--profiler-config.torch_profiler_with_stack=False "
                       "--profiler-config.ignore_frontend true")),
      Not(Contains("config-unreadable")));
}

TEST(CheckLaunch, FieldsThatContradict) {
  for (const char* config :
       {R"({"profiler":"cuda","torch_profiler_dir":"/t"})", R"({"torch_profiler_dir":"/t"})",
        R"({"profiler":"torch"})", R"({"profiler":"torch","torch_profiler_dir":""})",
        R"({"profiler":"proton"})", R"({"profiler":"cuda","capture_torch_profiler":true})",
        R"({"profiler":"cuda","torch_profiler_activities":["CPU"]})",
        R"({"profiler":"torch","torch_profiler_dir":"/t","proton_data":"trace"})",
        R"({"profiler":"torch","torch_profiler_dir":"/t","proton_mode":""})",
        R"({"profiler":"torch","torch_profiler_dir":"/t",
            "torch_profiler_activities":["CPU","CPU"]})"})
    EXPECT_THAT(NamesOf(FindVllm("0.32.0", config)), UnorderedElementsAre("config-contradicts"))
        << config;
  EXPECT_THAT(
      NamesOf(FindVllm("0.14.0", R"({"profiler":"torch"})", "", {"VLLM_TORCH_PROFILER_DIR=/t"})),
      Not(Contains("config-contradicts")));
  EXPECT_THAT(
      NamesOf(FindVllm("0.16.0", R"({"profiler":"torch"})", "", {"VLLM_TORCH_PROFILER_DIR=/t"})),
      Contains("config-contradicts"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", kSafe, "--profiler-config.max_iterations=5")),
              Contains("config-replaced"));
}

TEST(CheckLaunch, AnOptionThatTheEngineDoesNotHave) {
  EXPECT_THAT(NamesOf(FindVllm("0.12.0", kSafe)), UnorderedElementsAre("option-unknown"));
  EXPECT_THAT(NamesOf(FindSglang("--profiler-config {}")), UnorderedElementsAre("option-unknown"));
}

TEST(CheckLaunch, Variables) {
  const auto with = [](std::string_view version, const char* variable) {
    return NamesOf(FindVllm(version, kSafe, "", {variable}));
  };
  EXPECT_THAT(with("0.16.0", "VLLM_TORCH_PROFILER_DIR=/t"),
              UnorderedElementsAre("variable-not-read"));
  EXPECT_THAT(with("0.15.0", "VLLM_TORCH_PROFILER_DIR=/t"), IsEmpty());
  EXPECT_THAT(with("0.32.0", "VLLM_RPC_TIMEOUT=600000"), UnorderedElementsAre("timeout-not-read"));
  EXPECT_THAT(NamesOf(FindVllm("0.10.0", "", "", {"VLLM_RPC_TIMEOUT=600000"})),
              Not(Contains("timeout-not-read")));
  EXPECT_THAT(with("0.32.0", "VLLM_NVTX_SCOPES_FOR_PROFILING=attention,model_forward"),
              UnorderedElementsAre("variable-not-parsed"));
  EXPECT_THAT(with("0.32.0", "VLLM_NVTX_SCOPES_FOR_PROFILING="),
              UnorderedElementsAre("variable-not-parsed"));
  EXPECT_THAT(with("0.32.0", "VLLM_NVTX_SCOPES_FOR_PROFILING= +1_0 "), IsEmpty());
  EXPECT_THAT(with("0.32.0", "VLLM_TRACE_FUNCTION=all"),
              UnorderedElementsAre("variable-not-parsed"));
  const auto remedy = [](std::string_view version, const char* variable) {
    return std::string(FindVllm(version, kSafe, "", {variable}).at(0).Remedy());
  };
  EXPECT_EQ(remedy("0.32.0", "VLLM_TRACE_FUNCTION=all"), "leave it out");
  EXPECT_EQ(remedy("0.32.0", "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=1h"),
            "set VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=3600, or leave it out");
  EXPECT_EQ(remedy("0.15.0", "VLLM_PROFILER_MAX_ITERS=few"),
            "set VLLM_PROFILER_MAX_ITERS=20, or leave it out");
  EXPECT_EQ(remedy("0.15.0", "VLLM_PROFILER_DELAY_ITERS=few"),
            "set VLLM_PROFILER_DELAY_ITERS=0, or leave it out");
  EXPECT_THAT(with("0.32.0", "VLLM_TRACE_FUNCTION=1"), UnorderedElementsAre("function-trace"));
  EXPECT_THAT(with("0.32.0", "VLLM_TRACE_FUNCTION=0"), IsEmpty());
  EXPECT_THAT(with("0.32.0", "CUDA_LAUNCH_BLOCKING=1"), UnorderedElementsAre("launches-block"));
  EXPECT_THAT(with("0.32.0", "KINETO_LOG_LEVEL=5"), UnorderedElementsAre("kineto-silent"));
  EXPECT_THAT(with("0.32.0", "KINETO_LOG_LEVEL=1"), IsEmpty());
  EXPECT_THAT(with("0.24.0", "VLLM_USE_RUST_FRONTEND=1"), UnorderedElementsAre("rust-front-end"));
  EXPECT_THAT(with("0.25.0", "VLLM_USE_RUST_FRONTEND=1"), IsEmpty()) << "it has the routes";
  EXPECT_THAT(with("0.32.0", "VLLM_USE_RUST_FRONTEND=0"), IsEmpty());
  EXPECT_THAT(NamesOf(CheckLaunch(
                  EngineKind::kVllm, "0.32.0",
                  {"env", "VLLM_RPC_TIMEOUT=1", "vllm", "serve", "--profiler-config", kSafe}, {})),
              UnorderedElementsAre("timeout-not-read"))
      << "assignments before the program";
}

TEST(CheckLaunch, WhatARecordingWouldMeet) {
  const auto with = [](std::string_view fields, std::string_view version = "0.32.0",
                       std::string_view more = "", const Words& environment = {}) {
    return NamesOf(FindVllm(version,
                            fmt::format(R"({{"profiler":"torch","torch_profiler_dir":"/t",)"
                                        R"("torch_profiler_use_gzip":false,)"
                                        R"("torch_profiler_dump_cuda_time_total":false,{}}})",
                                        fields),
                            more, environment));
  };
  EXPECT_THAT(with(R"("ignore_frontend":true)"),
              UnorderedElementsAre("stacks-unbounded", "flush-costly"));
  EXPECT_THAT(with(R"("ignore_frontend":true)", "0.18.1"), IsEmpty()) << "stacks are off there";
  EXPECT_THAT(with(R"("ignore_frontend":true,"max_iterations":5)"),
              UnorderedElementsAre("flush-costly"));
  EXPECT_THAT(with(R"("ignore_frontend":true,"max_iterations":5000)"),
              UnorderedElementsAre("flush-costly", "flush-in-step"));
  EXPECT_THAT(with(R"("ignore_frontend":true,"max_iterations":5000)", "0.32.0", "",
                   {"VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=36000"}),
              UnorderedElementsAre("flush-costly"));
  const auto meant = [](const std::string& fields) {
    const std::string config = R"({"profiler":"torch","torch_profiler_dir":"/t",)"
                               R"("torch_profiler_dump_cuda_time_total":false,)"
                               R"("torch_profiler_with_stack":true,"max_iterations":20,)"
                               R"("ignore_frontend":true,"torch_profiler_use_gzip":)";
    return CheckLaunch(EngineKind::kVllm, "0.32.0",
                       {"vllm", "serve", "m", "--profiler-config", config + fields + "}"}, {},
                       true);
  };
  EXPECT_THAT(meant("false"), IsEmpty());
  ASSERT_EQ(meant("true").size(), 1U);
  EXPECT_EQ(meant("true")[0].remedy, R"(set "torch_profiler_use_gzip":false)");
  const char* none = R"("torch_profiler_with_stack":false)";
  EXPECT_THAT(with(none), UnorderedElementsAre("front-end-profiled"));
  EXPECT_THAT(with(none, "0.31.0", "--api-server-count 4"),
              UnorderedElementsAre("several-front-ends"));
  EXPECT_THAT(with(none, "0.32.0", "--api-server-count 4"), IsEmpty());
  EXPECT_THAT(with(none, "0.32.0", "--data-parallel-size 2"),
              UnorderedElementsAre("ranks-share-names"));
  const char* schedule =
      R"("torch_profiler_with_stack":false,"ignore_frontend":true,"warmup_iterations":2)";
  EXPECT_THAT(with(schedule, "0.31.0"), UnorderedElementsAre("schedule-once"));
  EXPECT_THAT(with(schedule, "0.32.0"), IsEmpty());
  const char* capture =
      R"("torch_profiler_with_stack":false,"ignore_frontend":true,"capture_torch_profiler":true)";
  EXPECT_THAT(with(capture), UnorderedElementsAre("graph-capture-empty"));
  EXPECT_THAT(with(capture, "0.32.0", "", {"VLLM_USE_V2_MODEL_RUNNER=0"}), IsEmpty());
}

TEST(CheckLaunch, EachVersionHasItsWayWithoutStacks) {
  const auto remedy = [](std::string_view version) {
    const std::vector<Finding> findings = FindVllm(
        version, "", "", {"VLLM_TORCH_PROFILER_DIR=/t", "VLLM_TORCH_PROFILER_WITH_STACK=1"});
    const Finding* found = FindingWith(findings, FindingId::kStacksUnbounded);
    return found == nullptr ? "" : std::string(found->Remedy());
  };
  EXPECT_EQ(remedy("0.10.2"), "");
  EXPECT_EQ(remedy("0.11.0"), "start the server with VLLM_TORCH_PROFILER_WITH_STACK=0");
  EXPECT_THAT(remedy("0.12.0"), HasSubstr("or VLLM_PROFILER_MAX_ITERS=20"));
  EXPECT_THAT(remedy("0.14.0"), HasSubstr("start the server with \"torch_profiler_with_stack\""));
}

TEST(CheckLaunch, AProfilerWithoutItsDevice) {
  const char* cuda = R"({"profiler":"cuda"})";
  EXPECT_THAT(NamesOf(FindVllm("0.32.0+cpu", cuda)), Contains("needs-gpu"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", cuda, "", {"VLLM_CPU_KVCACHE_SPACE=1"})),
              Contains("needs-gpu"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", cuda, "--device cpu")), Contains("needs-gpu"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", R"({"profiler":"proton","proton_profiler_dir":"/p"})", "",
                               {"VLLM_TARGET_DEVICE=cpu"})),
              Contains("needs-gpu"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", cuda)), Not(Contains("needs-gpu")));
}

TEST(CheckLaunch, AProfilerWhoseFilesAreNoTraces) {
  const char* proton = R"({"profiler":"proton","proton_profiler_dir":"/p"})";
  EXPECT_THAT(NamesOf(FindVllm("0.33.0", proton)), UnorderedElementsAre("proton-not-read"));
}

TEST(CheckLaunch, UnderNsys) {
  const auto nsys = [](std::string_view options, const std::string& config,
                       const Words& environment = {}) {
    Words words = WordsIn("nsys profile");
    for (std::string& word : WordsIn(options)) words.push_back(std::move(word));
    for (const char* word : {"vllm", "serve", "m", "--profiler-config"}) words.emplace_back(word);
    words.push_back(config);
    return NamesOf(CheckLaunch(EngineKind::kVllm, "0.32.0", words, environment));
  };
  const std::string cuda = R"({"profiler":"cuda"})";
  constexpr std::string_view kWholeRange =
      "--trace-fork-before-exec=true --capture-range=cudaProfilerApi --capture-range-end=repeat";
  EXPECT_THAT(nsys(kWholeRange, cuda), IsEmpty());
  EXPECT_THAT(nsys("--trace-fork-before-exec=true --capture-range=cudaProfilerApi", cuda),
              UnorderedElementsAre("ends-with-range"));
  EXPECT_THAT(nsys("--trace-fork-before-exec true -c cudaProfilerApi -o out", cuda),
              UnorderedElementsAre("ends-with-range"));
  EXPECT_THAT(nsys("--trace-fork-before-exec=true --delay 30 --duration 60", cuda),
              UnorderedElementsAre("ends-with-range"));
  EXPECT_THAT(nsys("--trace-fork-before-exec=true --duration=60 --kill=none", cuda), IsEmpty());
  EXPECT_THAT(nsys("-o vllm --trace-fork-before-exec=true --capture-range=cudaProfilerApi", cuda),
              UnorderedElementsAre("ends-with-range"))
      << "the name of the report is no program";
  EXPECT_THAT(nsys("--trace-fork-before-exec=true --capture-range=cudaProfilerApi --stats", cuda),
              UnorderedElementsAre("ends-with-range"))
      << "an option without a value";
  EXPECT_THAT(nsys("-t cuda,nvtx", cuda), UnorderedElementsAre("forks-not-traced"));
  EXPECT_THAT(nsys("-t cuda,nvtx", cuda, {"VLLM_WORKER_MULTIPROC_METHOD=spawn"}), IsEmpty());
  EXPECT_THAT(nsys(kWholeRange, kSafe), UnorderedElementsAre("two-profilers", "range-never-opens"));
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", cuda)), UnorderedElementsAre("nothing-captures"));
  EXPECT_THAT(FindVllm("0.32.0", cuda, "", {"NSYS_PROFILING_SESSION_ID=1"}), IsEmpty())
      << "a process that nsys traces";
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", kSafe, "", {"NSYS_PROFILING_SESSION_ID=1"})),
              UnorderedElementsAre("two-profilers"));
}

TEST(CheckLaunch, OtherOptions) {
  EXPECT_THAT(NamesOf(FindVllm("0.32.0", kSafe, "--enable-layerwise-nvtx-tracing")),
              UnorderedElementsAre("graphs-hide-ranges"));
  EXPECT_THAT(FindVllm("0.32.0", kSafe, "--enable-layerwise-nvtx-tracing --enforce-eager"),
              IsEmpty());
  const auto ray = [](std::string_view version, const Words& environment = {}) {
    return NamesOf(FindVllm(version, kSafe, "--distributed-executor-backend ray", environment));
  };
  const Words asks{"VLLM_USE_RAY_V2_EXECUTOR_BACKEND=0"};
  EXPECT_THAT(ray("0.31.0"), UnorderedElementsAre("ray-not-traced"));
  EXPECT_THAT(ray("0.32.0"), IsEmpty()) << "another executor by default";
  EXPECT_THAT(ray("0.32.0", asks), UnorderedElementsAre("ray-not-traced"));
  EXPECT_THAT(ray("0.33.0", asks), IsEmpty()) << "the other executor is gone";
  EXPECT_THAT(NamesOf(FindSglang("--enable-layerwise-nvtx-marker")),
              UnorderedElementsAre("graphs-hide-ranges"));
  EXPECT_THAT(FindSglang("--enable-layerwise-nvtx-marker --disable-cuda-graph"), IsEmpty());
  EXPECT_THAT(NamesOf(FindSglang("", {"SGLANG_PROFILE_V2=1"})),
              UnorderedElementsAre("profiler-v2"));
  EXPECT_THAT(FindSglang("", {"SGLANG_PROFILE_V2=0"}), IsEmpty());
}

TEST(CheckLaunch, TheWorstComesFirst) {
  const std::vector<Finding> findings = FindVllm(
      "0.32.0", R"({"profiler":"torch","torch_profiler_dir":"/t"})", "", {"VLLM_RPC_TIMEOUT=1"});
  for (size_t i = 1; i < findings.size(); ++i)
    EXPECT_GE(findings[i - 1].severity(), findings[i].severity());
  EXPECT_EQ(findings.front().id, FindingId::kStacksUnbounded);
}

TEST(EngineOf, KnowsProgramsAndModules) {
  EXPECT_EQ(EngineOf({"/opt/bin/vllm", "serve"}), EngineKind::kVllm);
  EXPECT_EQ(EngineOf(WordsIn("nsys profile -o x python3 -m vllm.entrypoints.openai.api_server")),
            EngineKind::kVllm);
  EXPECT_EQ(EngineOf(WordsIn("python -m sglang.launch_server")), EngineKind::kSglang);
  EXPECT_EQ(EngineOf(WordsIn("nginx -g vllmx")), EngineKind::kUnknown);
  EXPECT_EQ(EngineOf({}), EngineKind::kUnknown);
}

TEST(EngineOf, TachosOwnCommandIsNoEngines) {
  EXPECT_EQ(EngineOf({"python3", "-m", "vllm.entrypoints.openai.api_server"}), EngineKind::kVllm);
  EXPECT_EQ(EngineOf({"/usr/bin/tacho", "launch", "vllm", "--", "m"}), EngineKind::kUnknown);
}

}  // namespace
}  // namespace tacho
