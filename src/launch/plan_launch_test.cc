#include "launch/plan_launch.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "control/vllm/vllm_command_line.h"

namespace tacho {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Json = nlohmann::json;

LaunchPlace PlaceForTest() {
  return {.folder = "/run",
          .working = "/here",
          .ports = {8000, 8001, 8002, 8003},
          .gpus = {},
          .nsys = {}};
}

EngineProgram Vllm(const std::string& version, std::vector<std::string> more = {}) {
  EngineProgram program{{"vllm", "serve", "m"}, "python", version};
  program.command.insert(program.command.end(), more.begin(), more.end());
  return program;
}

Json ConfigOf(const PlannedServer& server) {
  const std::string text = ProfilerConfigOf(server.command, {});
  return text.empty() ? Json() : Json::parse(text);
}

TEST(PlanLaunch, LightOnACurrentVllm) {
  const auto plan = PlanLaunch({}, Vllm("0.32.0"), PlaceForTest());
  ASSERT_TRUE(plan);
  const PlannedServer& server = plan->servers.at(0);
  EXPECT_EQ(server.name, "vllm");
  EXPECT_EQ(server.url, "http://127.0.0.1:8000");
  EXPECT_EQ(server.log, "/run/logs/vllm.log");
  EXPECT_THAT(server.command, ElementsAre("vllm", "serve", "m", "--host", "127.0.0.1", "--port",
                                          "8000", "--profiler-config", testing::_));
  EXPECT_EQ(ConfigOf(server), Json::parse(R"({"profiler":"torch","torch_profiler_dir":"/run/traces",
      "torch_profiler_with_stack":false,"torch_profiler_use_gzip":false,
      "torch_profiler_dump_cuda_time_total":false,"ignore_frontend":true,"max_iterations":1000})"));
  EXPECT_TRUE(server.environment.empty());
}

TEST(PlanLaunch, PresetsBeginWithEachOther) {
  const auto of = [](const std::string& preset, const std::string& version) {
    LaunchRequest request;
    request.preset = preset;
    return PlanLaunch(request, Vllm(version), PlaceForTest()).value().servers[0];
  };
  const PlannedServer detailed = of("detailed", "0.32.0");
  EXPECT_EQ(ConfigOf(detailed)["torch_profiler_record_shapes"], true);
  EXPECT_EQ(ConfigOf(detailed)["torch_profiler_with_stack"], false);
  EXPECT_THAT(detailed.command, Contains("--enable-logging-iteration-details"));
  EXPECT_THAT(detailed.environment, ElementsAre("VLLM_CUSTOM_SCOPES_FOR_PROFILING=1"));
  const Json deep = ConfigOf(of("deep", "0.32.0"));
  EXPECT_EQ(deep["torch_profiler_with_stack"], true);
  EXPECT_EQ(deep["torch_profiler_record_shapes"], true);
  EXPECT_EQ(deep["max_iterations"], 20) << "stacks need a bound";
  const PlannedServer sources = of("sources", "0.32.0");
  EXPECT_EQ(ConfigOf(sources), deep);
  EXPECT_THAT(sources.command, Contains("--enforce-eager"));
  EXPECT_FALSE(ConfigOf(of("detailed", "0.20.0")).contains("detailed_trace_annotation"))
      << "a key that a version does not know ends its start";
}

TEST(PlanLaunch, OldVersionsByTheirVariables) {
  const auto plan = PlanLaunch({}, Vllm("0.12.0"), PlaceForTest());
  ASSERT_TRUE(plan);
  EXPECT_TRUE(ConfigOf(plan->servers[0]).is_null());
  EXPECT_THAT(plan->servers[0].environment,
              IsSupersetOf({"VLLM_TORCH_PROFILER_DIR=/run/traces",
                            "VLLM_TORCH_PROFILER_WITH_STACK=0", "VLLM_PROFILER_MAX_ITERS=1000"}));
  EXPECT_THAT(PlanLaunch({}, Vllm("0.9.0"), PlaceForTest()).value().servers[0].environment,
              ElementsAre("VLLM_TORCH_PROFILER_DIR=/run/traces"));
}

TEST(PlanLaunch, TheUsersOwnWordsWin) {
  LaunchRequest request;
  request.environment = {"VLLM_TORCH_PROFILER_WITH_STACK=1"};
  LaunchPlace place = PlaceForTest();
  place.environment = {"VLLM_TORCH_PROFILER_DIR=/theirs"};
  const auto old = PlanLaunch(request, Vllm("0.11.1"), place);
  EXPECT_THAT(old->servers[0].environment, ElementsAre("VLLM_TORCH_PROFILER_WITH_STACK=1"));
  const auto now = PlanLaunch(
      {},
      Vllm("0.32.0", {"--profiler-config",
                      R"({"max_iterations":5,"torch_profiler_with_stack":true})", "--host", "::1"}),
      PlaceForTest());
  const Json config = ConfigOf(now->servers[0]);
  EXPECT_EQ(config["max_iterations"], 5);
  EXPECT_EQ(config["torch_profiler_with_stack"], true);
  EXPECT_EQ(config["torch_profiler_dir"], "/run/traces");
  EXPECT_EQ(now->servers[0].url, "http://[::1]:8000");
  EXPECT_EQ(std::ranges::count(now->servers[0].command, "--profiler-config"), 1);
  const auto dotted =
      PlanLaunch({}, Vllm("0.32.0", {"--profiler-config.max_iterations=7"}), PlaceForTest());
  EXPECT_EQ(ConfigOf(dotted->servers[0])["max_iterations"], 7);
  EXPECT_EQ(ConfigOf(dotted->servers[0])["profiler"], "torch");
  const auto cuda = PlanLaunch({}, Vllm("0.32.0", {"--profiler-config", R"({"profiler":"cuda"})"}),
                               PlaceForTest());
  EXPECT_FALSE(ConfigOf(cuda->servers[0]).contains("torch_profiler_dir"));
}

TEST(PlanLaunch, OptionsOfItsFileCountAsTheUsersOwn) {
  EngineProgram program = Vllm("0.32.0", {"--config", "f", "-tp", "1"});
  const auto planned = [&](std::vector<std::string> file_options) {
    program.file_options = std::move(file_options);
    return PlanLaunch({}, program, PlaceForTest());
  };
  EXPECT_THAT(planned({"--uds", "/tmp/s"}).error().message, HasSubstr("plain HTTP"));
  const auto plan =
      planned({"--host", "10.0.0.1", "--api-key", "k", "--profiler-config",
               R"({"profiler":"torch","max_iterations":5,"torch_profiler_dir":"/f"})"});
  const PlannedServer& server = plan->servers[0];
  EXPECT_EQ(server.url, "http://10.0.0.1:8000");
  EXPECT_THAT(server.command, Not(Contains("--host")));
  EXPECT_EQ(plan->api_key, "k");
  EXPECT_EQ(ConfigOf(server)["max_iterations"], 5);
  EXPECT_EQ(ConfigOf(server)["torch_profiler_with_stack"], false) << "of the preset";
  EXPECT_EQ(server.traces, "/f");
  const auto dotted = planned({"--profiler-config.max_iterations", "7"});
  EXPECT_EQ(ConfigOf(dotted->servers[0])["max_iterations"], 7);
  EXPECT_EQ(ConfigOf(dotted->servers[0])["profiler"], "torch");

  LaunchRequest two;
  two.replicas = 2;
  LaunchPlace place = PlaceForTest();
  place.gpus = {"0", "1"};
  program = Vllm("0.32.0", {"--config", "f"});
  program.file_options = {"--tensor-parallel-size", "2", "--port", "8100"};
  EXPECT_THAT(PlanLaunch(two, program, place).error().message, HasSubstr("need 4 GPUs"));
  EXPECT_EQ(AskedPort(two, program).value(), 8100);
}

TEST(PlanLaunch, KnowsTheKeyOfItsServers) {
  const auto key = [](EngineKind kind, std::vector<std::string> more,
                      std::vector<std::string> environment = {}) {
    LaunchRequest request;
    request.kind = kind;
    request.environment = std::move(environment);
    return PlanLaunch(request, Vllm("", std::move(more)), PlaceForTest())->api_key;
  };
  const std::string variable = "VLLM_API_KEY=v=1";
  EXPECT_EQ(key(EngineKind::kVllm, {}), "");
  EXPECT_EQ(key(EngineKind::kVllm, {"--api-key", "a", "b"}, {variable}), "a");
  EXPECT_EQ(key(EngineKind::kVllm, {}, {variable}), "v=1");
  EXPECT_EQ(key(EngineKind::kSglang, {}, {variable}), "");
  EXPECT_EQ(key(EngineKind::kSglang, {"--admin-api-key=b", "--api-key=a"}), "a");
  EXPECT_EQ(key(EngineKind::kSglang, {"--admin-api-key=b"}), "b");
}

TEST(PlanLaunch, TracesGoWhereTheUserSaysSo) {
  const auto traces = [](const EngineProgram& program, EngineKind kind,
                         std::vector<std::string> environment) {
    LaunchPlace place = PlaceForTest();
    place.environment = std::move(environment);
    LaunchRequest request;
    request.kind = kind;
    return PlanLaunch(request, program, place).value().servers[0].traces;
  };
  const EngineProgram own = Vllm(
      "0.32.0", {"--profiler-config", R"({"profiler":"torch","torch_profiler_dir":"/my/traces"})"});
  EXPECT_EQ(traces(own, EngineKind::kVllm, {}), "/my/traces");
  const auto named = [](const std::string& folder) {
    return Vllm("0.32.0", {"--profiler-config.profiler=torch",
                           "--profiler-config.torch_profiler_dir=" + folder});
  };
  EXPECT_EQ(traces(named("~/mine"), EngineKind::kVllm, {"HOME=/home/me"}), "/home/me/mine");
  EXPECT_EQ(traces(named("mine/"), EngineKind::kVllm, {}), "/here/mine");
  EXPECT_EQ(traces(named("s3://bucket/mine"), EngineKind::kVllm, {}), "s3://bucket/mine");
  const std::string variable = "VLLM_TORCH_PROFILER_DIR=/old/traces";
  EXPECT_EQ(traces(Vllm("0.12.0"), EngineKind::kVllm, {variable}), "/old/traces");
  EXPECT_EQ(traces(Vllm("0.32.0"), EngineKind::kVllm, {variable}), "/run/traces") << "not read";
  const EngineProgram sglang{{"python", "-m", "sglang.launch_server"}, "python", "0.5.23"};
  EXPECT_EQ(traces(sglang, EngineKind::kSglang, {}), "/run/traces");
  EXPECT_EQ(traces(sglang, EngineKind::kSglang, {"SGLANG_TORCH_PROFILER_DIR=/s"}), "/s");
}

TEST(PlanLaunch, SglangTakesTheRestWithEachStart) {
  LaunchRequest request;
  request.kind = EngineKind::kSglang;
  request.preset = "detailed";
  const auto plan = PlanLaunch(request, {{"python3", "-m", "sglang.launch_server"}, "", "0.5.23"},
                               PlaceForTest());
  EXPECT_THAT(plan->servers[0].environment, ElementsAre("SGLANG_TORCH_PROFILER_DIR=/run/traces"));
  EXPECT_THAT(plan->servers[0].command, Contains("--enable-metrics"));
  EXPECT_THAT(plan->record_options, HasSubstr("--record-shapes"));
}

TEST(PlanLaunch, ReplicasHavePortsFoldersAndGpusOfTheirOwn) {
  LaunchRequest request;
  request.replicas = 2;
  LaunchPlace place = PlaceForTest();
  place.gpus = {"4", "5", "6", "7"};
  place.router_program = "/bin/vllm-router";
  const auto plan = PlanLaunch(request, Vllm("0.32.0", {"-tp", "2", "--port", "8000"}), place);
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->servers[0].environment, ElementsAre("CUDA_VISIBLE_DEVICES=4,5"));
  EXPECT_THAT(plan->servers[1].environment, ElementsAre("CUDA_VISIBLE_DEVICES=6,7"));
  EXPECT_EQ(plan->servers[1].url, "http://127.0.0.1:8001");
  EXPECT_THAT(plan->servers[1].command, Not(Contains("8000")));
  EXPECT_EQ(ConfigOf(plan->servers[1])["torch_profiler_dir"], "/run/traces/w1");
  ASSERT_TRUE(plan->router);
  EXPECT_EQ(plan->url(), "http://127.0.0.1:8002");
  EXPECT_THAT(plan->router->command,
              IsSupersetOf({"--worker-urls", "http://127.0.0.1:8000", "http://127.0.0.1:8001"}));
  EXPECT_THAT(plan->targets(), ElementsAre("http://127.0.0.1:8002"));
  place.router_program = "";
  EXPECT_THAT(PlanLaunch(request, Vllm("0.32.0"), place)->targets(),
              ElementsAre("http://127.0.0.1:8000", "http://127.0.0.1:8001"));
  request.environment = {"A=1", "CUDA_VISIBLE_DEVICES=4,5,6,7"};
  EXPECT_THAT(PlanLaunch(request, Vllm("0.32.0"), place)->servers[1].environment,
              ElementsAre("A=1", "CUDA_VISIBLE_DEVICES=5"));
  request.replicas = 3;
  EXPECT_THAT(PlanLaunch(request, Vllm("0.32.0", {"-tp", "2"}), place).error().message,
              HasSubstr("3 replicas need 6 GPUs, and 4 can be used"));
}

TEST(PlanLaunch, SglangsDataParallelRanksHaveGpusOfTheirOwn) {
  LaunchRequest request;
  request.kind = EngineKind::kSglang;
  request.replicas = 2;
  LaunchPlace place = PlaceForTest();
  place.gpus = {"0", "1", "2", "3", "4", "5", "6", "7"};
  EngineProgram program{
      {"python3", "-m", "sglang.launch_server", "--tp", "2", "--dp-size", "2"}, "", "0.5.23"};
  EXPECT_THAT(PlanLaunch(request, program, place)->servers[1].environment,
              Contains("CUDA_VISIBLE_DEVICES=4,5,6,7"));
  program.command.emplace_back("--enable-dp-attention");
  EXPECT_THAT(PlanLaunch(request, program, place)->servers[1].environment,
              Contains("CUDA_VISIBLE_DEVICES=2,3"));
}

TEST(PlanLaunch, AnEngineThatWouldNotAnswerHttpIsRefused) {
  for (const char* option : {"--uds=/tmp/s", "--headless", "--ssl-certfile", "--ssl_keyfile"})
    EXPECT_THAT(PlanLaunch({}, Vllm("0.32.0", {option, "f"}), PlaceForTest()).error().message,
                HasSubstr("plain HTTP"))
        << option;
}

TEST(AskedPort, InOneOfTwoPlaces) {
  LaunchRequest request;
  EXPECT_EQ(AskedPort(request, Vllm("", {"--port=9"})).value(), 9);
  request.port = 9;
  EXPECT_EQ(AskedPort(request, Vllm("", {"--port=9"})).value(), 9);
  EXPECT_FALSE(AskedPort(request, Vllm("", {"--port", "8"})));
  EXPECT_FALSE(AskedPort({}, Vllm("", {"--port", "none"})));
  EXPECT_EQ(AskedPort({}, Vllm("")).value(), std::nullopt);
}

TEST(ShellLine, ForAShellAndWithoutKeys) {
  EXPECT_EQ(ShellLine({.name = "",
                       .command = {"vllm", "--api-key", "s3cret", "--hf-token=s3cret", "a b"},
                       .environment = {"HF_TOKEN=s3cret", "A=b c"},
                       .url = "",
                       .traces = "",
                       .log = ""}),
            "HF_TOKEN='***' A='b c' vllm --api-key '***' --hf-token='***' 'a b'");
  EXPECT_EQ(ShellLine({.name = "",
                       .command = {"./engine"},
                       .environment = {"S3_PASSWORD=s3cret", "https_proxy=http://u:s3cret@h:1",
                                       "TOKENIZERS_PARALLELISM=false", "aws_secret_access_key=s"},
                       .url = "",
                       .traces = "",
                       .log = ""}),
            "S3_PASSWORD='***' https_proxy='http://***@h:1' TOKENIZERS_PARALLELISM=false "
            "aws_secret_access_key='***' ./engine");
}

// For variables, it is better to hide too much.
TEST(ShellLine, HidesVariablesThatMayHoldAKey) {
  for (const char* name : {"OPENAI_API_KEYS", "MY_TOKENS", "AWS_ACCESS_KEY_ID", "MYSQL_PWD", "KEY",
                           "HF_TOKEN_PROD", "BASIC_AUTH", "SLACK_WEBHOOK", "some_key"}) {
    const PlannedServer server{.name = "",
                               .command = {"./engine"},
                               .environment = {std::string(name) + "=s3cret"},
                               .url = "",
                               .traces = "",
                               .log = ""};
    EXPECT_EQ(ShellLine(server), std::string(name) + "='***' ./engine");
  }
}

TEST(ShownWords, HaveNoSecret) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(ShownWords(Words{"vllm", "--api-key", "k1", "k2", "--port", "1"}),
            "vllm --api-key '***' '***' --port 1");
  EXPECT_EQ(ShownWords(Words{"vllm", "--api_key", "k", "--api-k=k"}),
            "vllm --api_key '***' --api-k='***'");
  EXPECT_EQ(ShownWords(Words{"env", "HF_TOKEN=x", "docker", "--env=HF_TOKEN=x", "./engine"}),
            "env HF_TOKEN='***' docker --env=HF_TOKEN='***' ./engine");
  EXPECT_EQ(ShownWords(Words{"--ssl-keyfile", "f", "--tokenizer", "t", R"({"token":"a=b"})"}),
            R"(--ssl-keyfile f --tokenizer t '{"token":"a=b"}')");
  EXPECT_EQ(
      ShownWords(Words{"--hf-overrides", R"({"api_key":"s3cret"})",
                       R"(--speculative-config={"token":"s3cretvalue"})",
                       "--max-num-batched-tokens=8192", "--kv-transfer-config={}"}),
      R"(--hf-overrides '{"api_key":"******"}' --speculative-config='{"token":"***********"}')"
      " --max-num-batched-tokens=8192 --kv-transfer-config='{}'");
  EXPECT_EQ(ShownWords(Words{"s3://u:p@h/m", "--x=http://u:p@h"}),
            "'s3://***@h/m' --x='http://***@h'");
}

}  // namespace
}  // namespace tacho
