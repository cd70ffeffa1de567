#include "control/live/profile_control.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "control/fake_engine_for_test.h"
#include "control/finding_for_test.h"
#include "control/launch/profile_needs.h"
#include "control/version.h"

namespace tacho {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using Json = nlohmann::json;

const Worker kWorker{.url = "http://h:1",
                     .role = WorkerRole::kRegular,
                     .dp_ranks = {},
                     .healthy_by_router = true,
                     .found_in = ""};

EngineFacts Vllm(std::string version = "0.32.0") {
  EngineFacts facts;
  facts.kind = EngineKind::kVllm;
  facts.version = std::move(version);
  facts.profiler.has_http = true;
  facts.profiler.reads_body = true;
  return facts;
}
EngineFacts Sglang(std::string version = "0.5.23") {
  EngineFacts facts;
  facts.kind = EngineKind::kSglang;
  facts.version = std::move(version);
  facts.profiler.has_http = facts.profiler.reads_body = true;
  facts.profiler.reads_profile_id = EngineRule(EngineKind::kSglang, facts.version, "id") == "yes";
  return facts;
}
ProfileOptions Keyed() {
  ProfileOptions options;
  options.key = "s1";
  return options;
}
std::string WhyNot(const EngineFacts& facts, const ProfileOptions& options) {
  auto planned = PlanStart(kWorker, facts, options);
  EXPECT_FALSE(planned);
  return planned ? "planned" : planned.error().message;
}

TEST(PlanStart, VllmReadsKeyAndSteps) {
  ProfileOptions options = Keyed();
  options.steps = 5;
  auto start = PlanStart(kWorker, Vllm(), options);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->path, "/start_profile");
  EXPECT_EQ(Json::parse(start->body), Json::parse(R"({"profile_prefix":"s1","max_iterations":5})"));
  EXPECT_EQ(start->AsCurl(),
            "curl -X POST http://h:1/start_profile -H 'Content-Type: application/json' -d "
            "'{\"max_iterations\":5,\"profile_prefix\":\"s1\"}'");
  start->url = "http://[::1]:1";
  start->body = "{\"it's\":1}";
  EXPECT_EQ(start->AsCurl(),
            "curl -X POST 'http://[::1]:1/start_profile' -H 'Content-Type: application/json' -d "
            "'{\"it'\\''s\":1}'");
  EngineFacts old = Vllm("0.13.0");
  old.profiler.reads_body = false;
  EXPECT_EQ(PlanStart(kWorker, old, options)->body, "");
}

TEST(PlanStart, RefusesWhatVllmCannotDo) {
  EngineFacts off = Vllm("0.10.0");
  off.profiler.has_http = false;
  EXPECT_THAT(WhyNot(off, Keyed()), HasSubstr("VLLM_TORCH_PROFILER_DIR"));
  off.version = "0.32.0";
  EXPECT_THAT(WhyNot(off, Keyed()), HasSubstr("--profiler-config"));
  off.profiler.launched_by_nsys = true;
  EXPECT_THAT(WhyNot(off, Keyed()), HasSubstr("--via nsys"));
  EXPECT_THAT(WhyNot(off, Keyed()), Not(HasSubstr("VLLM_TORCH_PROFILER_DIR")));
  off.profiler.launched_by_nsys = false;
  off.profiler.has_daemon = true;
  EXPECT_THAT(WhyNot(off, Keyed()), EndsWith("as it is, tacho record --via daemon profiles it"));
  EngineFacts asleep = Vllm();
  asleep.asleep = true;
  EXPECT_THAT(WhyNot(asleep, Keyed()), HasSubstr("sleeps"));
  EngineFacts stacks = Vllm();
  stacks.profiler.with_stack = true;
  EXPECT_THAT(WhyNot(stacks, Keyed()), HasSubstr("1.6 million events"));
  EXPECT_EQ(FindObstacle(kWorker, stacks, Keyed())->id, FindingId::kStacksUnbounded);
  stacks.profiler.with_stack.reset();
  EXPECT_THAT(IdsOf(FindRisks(kWorker, stacks, Keyed())), testing::ElementsAre("stacks-unknown"));
  stacks.profiler.with_stack = true;
  ProfileOptions bounded = Keyed();
  bounded.steps = 2;
  EXPECT_TRUE(PlanStart(kWorker, stacks, bounded));
  stacks.profiler.max_iterations = 3;
  EXPECT_TRUE(PlanStart(kWorker, stacks, Keyed()));
}

TEST(PlanStart, KeysThatWouldKillAreRefused) {
  for (const char* key : {"", "a/b", "../x", "-x", ".x", "a b"}) {
    ProfileOptions options;
    options.key = key;
    EXPECT_THAT(WhyNot(Sglang(), options), HasSubstr("cannot name a session")) << key;
  }
}

TEST(PlanStart, SglangCountsExactlyInEveryVersion) {
  ProfileOptions options = Keyed();
  options.steps = 3;
  options.output_dir = "/traces";
  Json body = Json::parse(PlanStart(kWorker, Sglang(), options)->body);
  EXPECT_EQ(body, Json::parse(R"({"output_dir":"/traces","with_stack":false,"record_shapes":false,
      "num_steps":3,"start_step":1,"profile_prefix":"s1","profile_id":"s1"})"));
  ProfileOptions now = options;
  now.at_once = true;
  EXPECT_FALSE(Json::parse(PlanStart(kWorker, Sglang(), now)->body).contains("start_step"));
  Json old = Json::parse(PlanStart(kWorker, Sglang("0.5.5"), options)->body);
  EXPECT_FALSE(old.contains("profile_prefix"));
  EXPECT_FALSE(old.contains("profile_id"));
  Json oldest = Json::parse(PlanStart(kWorker, Sglang("0.4.9"), options)->body);
  EXPECT_FALSE(oldest.contains("start_step"));
  EXPECT_EQ(oldest["num_steps"], 4) << "it counts one less";
  options.fields["profile_by_stage"] = "true";
  Json stages = Json::parse(PlanStart(kWorker, Sglang(), options)->body);
  EXPECT_EQ(stages["profile_by_stage"], true);
  EXPECT_FALSE(stages.contains("start_step"));
}

TEST(FindRisks, AScheduleThatRecordsOnce) {
  EngineFacts facts = Vllm("0.20.0");
  facts.profiler.with_stack = false;
  facts.profiler.active_iterations = 3;
  EXPECT_TRUE(FindRisks(kWorker, facts, Keyed()).empty());
  facts.profiler.warmup_iterations = 2;
  EXPECT_THAT(TextsOf(FindRisks(kWorker, facts, Keyed()), false),
              testing::ElementsAre(HasSubstr("the first session of its life")));
  EXPECT_THAT(IdsOf(FindRisks(kWorker, facts, Keyed())), testing::ElementsAre("schedule-once"));
  facts.version = "0.32.0";
  EXPECT_TRUE(FindRisks(kWorker, facts, Keyed()).empty());
}

ProfileOptions With(const std::string& field, const std::string& value,
                    std::optional<int64_t> steps = {}) {
  ProfileOptions options = Keyed();
  options.fields[field] = value;
  options.steps = steps;
  return options;
}

TEST(PlanStart, RequestsThatEndAnSglangServerAreNeverMade) {
  EXPECT_THAT(WhyNot(Sglang(), With("profile_by_stage", "true")), HasSubstr("--steps"));
  EXPECT_THAT(WhyNot(Sglang(), With("activities", "CPU+MEM")), HasSubstr("one or more of CPU GPU"));
  EXPECT_THAT(WhyNot(Sglang(), With("activities", "")), HasSubstr("one or more of"));
  ProfileOptions relative = Keyed();
  relative.output_dir = "traces";
  EXPECT_THAT(WhyNot(Sglang(), relative), HasSubstr("absolute"));
  EXPECT_THAT(WhyNot(Sglang(), With("with_stack", "true")),
              HasSubstr("Python stacks without a bound"));
  EXPECT_THAT(WhyNot(Sglang(), With("start_step", "1000000")), HasSubstr("stays armed"));
  EXPECT_THAT(WhyNot(Sglang(), With("merge_profiles", "true")), HasSubstr("reads all ranks"));
  EXPECT_THAT(WhyNot(Sglang(), With("profile_prefix", "a/b")), HasSubstr("it needs letters"));
  EngineFacts no_gpu = Sglang();
  no_gpu.device = "cpu";
  EXPECT_THAT(WhyNot(no_gpu, With("activities", "GPU")), HasSubstr("name CPU"));
  EXPECT_TRUE(PlanStart(kWorker, no_gpu, With("activities", "CPU+GPU")));
}

Json BodyOf(const EngineFacts& facts, const ProfileOptions& options) {
  auto planned = PlanStart(kWorker, facts, options);
  EXPECT_TRUE(planned) << planned.error().message;
  return planned ? Json::parse(planned->body) : Json();
}

TEST(PlanStart, FieldsGoIntoTheRequestOfTheEngineThatKnowsThem) {
  EXPECT_EQ(BodyOf(Vllm(), With("delay_iterations", "7"))["delay_iterations"], 7);
  EXPECT_EQ(BodyOf(Sglang(), With("activities", "CPU+GPU"))["activities"], (Json{"CPU", "GPU"}));
  EXPECT_EQ(BodyOf(Sglang(), With("with_stack", "true", 3))["with_stack"], true);
  EXPECT_EQ(BodyOf(Sglang(), With("record_shapes", "true"))["record_shapes"], true);
  EXPECT_EQ(BodyOf(Sglang(), With("detailed_annotations", "true"))["detailed_annotations"], true);
  ProfileOptions prefixed = With("profile_prefix", "mine");
  prefixed.NameSession("s1");
  EXPECT_EQ(prefixed.key, "mine-s1");
  EXPECT_EQ(BodyOf(Vllm(), prefixed)["profile_prefix"], "mine-s1");
  EXPECT_EQ(BodyOf(Sglang(), prefixed)["profile_prefix"], "mine-s1");
}

TEST(PlanStart, FieldsOfTorchsProfilerGoIntoTheKwargsOfVllm) {
  EngineFacts facts = Vllm("0.33.0");
  facts.profiler.reads_kwargs = true;
  ProfileOptions options = With("with_stack", "true", 5);
  options.fields["record_shapes"] = "true";
  options.fields["with_memory"] = "false";
  options.fields["with_flops"] = "true";
  EXPECT_EQ(BodyOf(facts, options), Json::parse(R"({"max_iterations":5,"profile_prefix":"s1",
      "profiler_kwargs":{"with_stack":true,"record_shapes":true,"profile_memory":false,
                         "with_flops":true}})"));
  EXPECT_EQ(BodyOf(facts, Keyed()), Json::parse(R"({"profile_prefix":"s1"})"))
      << "nothing is asked that the user did not ask for";
  EXPECT_THAT(WhyNot(facts, With("with_stack", "true")), HasSubstr("1.6 million events"));
  EXPECT_THAT(WhyNot(facts, With("with_stack", "1", 5)), HasSubstr("true or false"));
  // A server that records stacks, and a session without.
  facts.profiler.with_stack = true;
  EXPECT_FALSE(FindObstacle(kWorker, facts, With("with_stack", "false")));
  facts.profiler.kind = "cuda";
  EXPECT_THAT(WhyNot(facts, With("with_flops", "true", 5)), HasSubstr("its profiler is cuda"));
  EngineFacts rust = Vllm("0.33.0");
  rust.profiler.reads_body = false;
  EXPECT_THAT(WhyNot(rust, With("record_shapes", "true")), HasSubstr("does not name"));
}

TEST(PlanStart, FieldsThatAnEngineDoesNotTakeAreRefusedWithTheReason) {
  EXPECT_THAT(WhyNot(Vllm(), With("with_stack", "true")), HasSubstr("--profiler-config"));
  EXPECT_THAT(WhyNot(Vllm("0.12.0"), With("with_stack", "true")),
              HasSubstr("VLLM_TORCH_PROFILER_WITH_STACK=1"));
  EXPECT_THAT(WhyNot(Vllm(), With("max_iterations", "3")), HasSubstr("--steps N"));
  EXPECT_THAT(WhyNot(Vllm(), With("delay_iterations", "-1")), HasSubstr("whole number"));
  EXPECT_THAT(WhyNot(Vllm(), With("nonsense", "1")),
              testing::AllOf(HasSubstr("nonsense: not known to vllm"),
                             HasSubstr("profile_prefix, delay_iterations"),
                             testing::Not(HasSubstr("max_iterations"))));
  EngineFacts old = Vllm("0.31.0");
  old.profiler.reads_body = false;
  EXPECT_THAT(WhyNot(old, With("delay_iterations", "7")),
              HasSubstr("reads nothing from the start"));
  EXPECT_THAT(WhyNot(Sglang("0.5.18"), With("detailed_annotations", "true")),
              HasSubstr("from SGLang 0.5.21 on"));
  EXPECT_THAT(WhyNot(Sglang("0.5.5"), With("profile_prefix", "mine")), HasSubstr("0.5.6"));
  EXPECT_THAT(WhyNot(Sglang(), With("record_shapes", "yes")), HasSubstr("true or false"));
}

TEST(CheckFields, TheDaemonTakesTwoFlags) {
  EXPECT_TRUE(CheckFields("daemon", "", With("with_stack", "true")));
  EXPECT_TRUE(CheckFields("daemon", "", Keyed()));
  auto refused = CheckFields("daemon", "", With("profile_by_stage", "true"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("it takes with_stack, record_shapes"));
}

EngineFacts ByRules(EngineKind kind) {
  EngineFacts facts;
  facts.kind = kind;
  facts.profiler.has_http = true;
  facts.profiler.reads_body = EngineRule(kind, "", "counts_steps") == "yes";
  return facts;
}

TEST(PlanStart, OtherEnginesGetTheFieldsOfTheirRules) {
  ProfileOptions options = Keyed();
  options.steps = 7;
  options.output_dir = "/traces";
  // TensorRT-LLM's start_step is relative, so it is never sent.
  EXPECT_EQ(BodyOf(ByRules(EngineKind::kTensorRtLlm), options),
            Json::parse(R"({"output_dir":"/traces","num_steps":7})"));
  // Python stacks are on by default.
  const Json explicit_flags = Json::parse(
      R"({"output_dir":"/traces","num_steps":7,"with_stack":false,"record_shapes":false})");
  for (const EngineKind kind :
       {EngineKind::kTokenSpeed, EngineKind::kSmg, EngineKind::kDynamoSglang})
    EXPECT_EQ(BodyOf(ByRules(kind), options), explicit_flags) << NameOf(kind);
  EXPECT_THAT(WhyNot(ByRules(EngineKind::kTokenSpeed), With("with_stack", "true")),
              HasSubstr("needs --steps N"));
  EXPECT_EQ(BodyOf(ByRules(EngineKind::kSmg), With("with_stack", "true", 2))["with_stack"], true);
  EXPECT_EQ(BodyOf(ByRules(EngineKind::kDynamoVllm), Keyed()),
            Json::parse(R"({"profile_prefix":"s1"})"));
  EXPECT_THAT(WhyNot(ByRules(EngineKind::kDynamoVllm), options), HasSubstr("takes no folder"));
  EXPECT_THAT(WhyNot(ByRules(EngineKind::kTensorRtLlm), With("with_stack", "true", 2)),
              HasSubstr("no such field"));
  EXPECT_EQ(PlanStart(kWorker, ByRules(EngineKind::kDynamoVllm), Keyed())->path,
            "/engine/control/start_profile");
  EXPECT_EQ(PlanStop(kWorker, ByRules(EngineKind::kDynamoVllm), false).path,
            "/engine/control/stop_profile");
}

TEST(FindRisks, TheStopThatAnswersTooEarly) {
  EXPECT_THAT(IdsOf(FindRisks(kWorker, ByRules(EngineKind::kTensorRtLlm), Keyed())),
              testing::ElementsAre("stop-answers-early"));
}

ControlOutcome SendOne(const FakeEngine& engine, const EngineFacts& facts, std::string path) {
  auto client = HttpClient::Create().value();
  return SendAll(*client, {{engine.url(), std::move(path), ""}}, {facts},
                 std::chrono::seconds(5))[0];
}

TEST(SendAll, UnderstandsBothDialects) {
  FakeEngine vllm({{"POST /start_profile",
                    {409, R"({"error":{"message":"A profiling session is already active.",
                            "type":"Conflict","param":null,"code":409}})"}},
                   {"POST /stop_profile", {200, ""}}});
  ControlOutcome start = SendOne(vllm, Vllm(), "/start_profile");
  EXPECT_EQ(start.verdict, ControlVerdict::kRefused);
  EXPECT_EQ(start.status, 409);
  EXPECT_TRUE(start.taken);
  EXPECT_THAT(start.said, HasSubstr("already active"));
  EXPECT_EQ(SendOne(vllm, Vllm(), "/stop_profile").verdict, ControlVerdict::kDone);

  FakeEngine off({});
  EXPECT_THAT(SendOne(off, Vllm(), "/start_profile").said, HasSubstr("--profiler-config"));

  FakeEngine sglang({{"POST /stop_profile", {500, "Internal Server Error"}},
                     {"POST /start_profile", {500, "Internal Server Error"}}});
  EXPECT_EQ(SendOne(sglang, Sglang(), "/stop_profile").verdict, ControlVerdict::kWasSo);
  EXPECT_EQ(SendOne(sglang, Sglang(), "/start_profile").verdict, ControlVerdict::kRefused);
}

TEST(SendAll, ReadsTheBodyWhereTheStatusDoesNotTell) {
  const FakeEngine dynamo(
      {{"POST /engine/control/start_profile",
        {200, R"({"status":"error","message":"A profiling session is already active."})"}},
       {"POST /engine/control/stop_profile",
        {200, R"({"status":"ok","message":"Profiling stopped"})"}}});
  const EngineFacts vllm = ByRules(EngineKind::kDynamoVllm);
  const ControlOutcome start = SendOne(dynamo, vllm, "/engine/control/start_profile");
  EXPECT_EQ(start.verdict, ControlVerdict::kRefused);
  EXPECT_TRUE(start.taken);
  EXPECT_THAT(start.said, HasSubstr("already active"));
  EXPECT_EQ(SendOne(dynamo, vllm, "/engine/control/stop_profile").verdict, ControlVerdict::kDone);

  const FakeEngine smg(
      {{"POST /start_profile",
        {206, R"({"successful":["grpc://a:1"],"failed":[["grpc://b:1","no such folder"]]})"}},
       {"POST /stop_profile",
        {206, R"({"successful":[],"failed":[["grpc://a:1","Profiling is not in progress."]]})"}}});
  const EngineFacts router = ByRules(EngineKind::kSmg);
  const ControlOutcome partly = SendOne(smg, router, "/start_profile");
  EXPECT_EQ(partly.verdict, ControlVerdict::kRefused);
  EXPECT_FALSE(partly.taken);
  EXPECT_EQ(partly.said, "no such folder");
  EXPECT_EQ(SendOne(smg, router, "/stop_profile").verdict, ControlVerdict::kWasSo);

  const FakeEngine tensorrt(
      {{"POST /start_profile", {409, R"({"success":false,"message":"already active"})"}}});
  EXPECT_TRUE(SendOne(tensorrt, ByRules(EngineKind::kTensorRtLlm), "/start_profile").taken);
}

// Each worker answers only when all of them have been asked.
TEST(SendAll, AsksAllAtOnceWhereTheRouteWasBefore) {
  constexpr size_t kWorkers = 4;
  std::mutex mutex;
  std::vector<std::shared_ptr<HttpExchange>> waiting;
  auto server = HttpServer::Create().value();
  std::vector<ControlRequest> starts;
  for (size_t i = 0; i < kWorkers; ++i) {
    const uint16_t port =
        server
            ->Listen("127.0.0.1", 0,
                     [&](const std::shared_ptr<HttpExchange>& exchange) {
                       if (exchange->request().path != "/engine/start_profile")
                         return exchange->Respond(404, "", "text/plain");
                       const std::lock_guard lock(mutex);
                       waiting.push_back(exchange);
                       if (waiting.size() == kWorkers)
                         for (const auto& one : waiting)
                           one->Respond(200, R"({"status":"ok"})", "application/json");
                     })
            .value();
    starts.push_back({.url = fmt::format("http://127.0.0.1:{}", port),
                      .path = "/engine/control/start_profile",
                      .body = "{}",
                      .other_path = "/engine/start_profile"});
  }
  auto client = HttpClient::Create().value();
  const std::vector<EngineFacts> facts(kWorkers, ByRules(EngineKind::kDynamoSglang));
  size_t told = 0;
  for (const ControlOutcome& outcome : SendAll(*client, starts, facts, std::chrono::seconds(5), {},
                                               [&](const ControlOutcome&) { ++told; }))
    EXPECT_EQ(outcome.verdict, ControlVerdict::kDone) << outcome.said;
  EXPECT_EQ(told, kWorkers);
}

// A session without a counted step answers a stop as if nothing ran.
TEST(SendAll, TakesBackASessionThatHasNotBegun) {
  auto client = HttpClient::Create().value();
  const auto stop = [&](const FakeEngine& engine, bool counted) {
    Worker worker;
    worker.url = engine.url();
    return SendAll(*client, {PlanStop(worker, Sglang(), counted)}, {Sglang()},
                   std::chrono::seconds(5))[0];
  };
  const FakeEngine::Answer no{500, "Internal Server Error"};
  const FakeEngine armed({{"POST /stop_profile", no}, {"POST /start_profile", {200, ""}}});
  const ControlOutcome taken = stop(armed, true);
  EXPECT_EQ(taken.verdict, ControlVerdict::kWasSo);
  EXPECT_THAT(taken.said, HasSubstr("its steps were over, or had not begun and are taken back"));
  EXPECT_THAT(armed.seen(),
              testing::ElementsAre("POST /stop_profile",
                                   "POST /start_profile {\"start_step\":4611686018427387904}"));
  EXPECT_TRUE(stop(armed, false).IsGood());
  EXPECT_EQ(armed.seen().size(), 3u) << "nothing is known of that begins later";

  const FakeEngine begins({{"POST /stop_profile", no}, {"POST /start_profile", no}});
  const ControlOutcome begun = stop(begins, true);
  EXPECT_EQ(begun.verdict, ControlVerdict::kRefused);
  EXPECT_THAT(begun.said, HasSubstr("stop it again"));
  const FakeEngine ran({{"POST /stop_profile", {200, ""}}});
  EXPECT_EQ(stop(ran, true).verdict, ControlVerdict::kDone);
  EXPECT_EQ(ran.seen().size(), 1u);
  EXPECT_EQ(PlanStop({}, Vllm(), true).take_back_body, "");
}

// An immediate start would discard the running window.
TEST(SendAll, StartsNothingIfAnotherSessionRuns) {
  const std::string guard = "POST /start_profile {\"start_step\":4611686018427387904}";
  auto client = HttpClient::Create().value();
  const auto start = [&](const FakeEngine& engine) {
    Worker worker;
    worker.url = engine.url();
    return SendAll(*client, {PlanStart(worker, Sglang(), Keyed()).value()}, {Sglang()},
                   std::chrono::seconds(5))[0];
  };
  const FakeEngine busy({{"POST /start_profile", {500, "Internal Server Error"}}});
  const ControlOutcome refused = start(busy);
  EXPECT_EQ(refused.verdict, ControlVerdict::kRefused);
  EXPECT_TRUE(refused.taken);
  EXPECT_THAT(refused.said, HasSubstr("tacho engine stop " + busy.url()));
  EXPECT_THAT(busy.seen(), testing::ElementsAre(guard));

  const FakeEngine free({{"POST /start_profile", {200, ""}}});
  EXPECT_EQ(start(free).verdict, ControlVerdict::kDone);
  ASSERT_EQ(free.seen().size(), 2u);
  EXPECT_EQ(free.seen()[0], guard);

  EXPECT_EQ(PlanStart(kWorker, Sglang("0.4.9"), Keyed())->guard_body, "");
  EXPECT_THAT(TextsOf(FindRisks(kWorker, Sglang("0.4.9"), Keyed()), false),
              testing::ElementsAre(HasSubstr("does not report whether somebody profiles it")));
  EXPECT_THAT(IdsOf(FindRisks(kWorker, Sglang("0.4.9"), Keyed())),
              testing::ElementsAre("sessions-not-reported"));
  ProfileOptions stages = Keyed();
  stages.steps = 3;
  stages.fields["profile_by_stage"] = "true";
  EXPECT_EQ(PlanStart(kWorker, Sglang(), stages)->guard_body, "") << "it is its own guard";
}

TEST(SendAll, SendsToAllAtOnceAndEachOnce) {
  std::vector<std::unique_ptr<FakeEngine>> engines;
  std::vector<ControlRequest> requests;
  for (int i = 0; i < 8; ++i) {
    engines.push_back(std::make_unique<FakeEngine>(
        std::map<std::string, FakeEngine::Answer>{{"POST /start_profile", {200, ""}}}));
    requests.push_back({engines.back()->url(), "/start_profile", R"({"profile_prefix":"k"})"});
  }
  requests.push_back({"http://127.0.0.1:1", "/start_profile", ""});
  auto client = HttpClient::Create().value();
  std::vector<EngineFacts> facts(requests.size(), Vllm());
  int ended = 0;
  auto outcomes = SendAll(*client, requests, facts, std::chrono::seconds(5), {},
                          [&](const ControlOutcome&) { ++ended; });
  EXPECT_EQ(ended, 9);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(outcomes[i].verdict, ControlVerdict::kDone);
    EXPECT_THAT(engines[i]->seen(),
                testing::ElementsAre(R"(POST /start_profile {"profile_prefix":"k"})"));
  }
  EXPECT_EQ(outcomes[8].verdict, ControlVerdict::kNoAnswer);
  EXPECT_THAT(outcomes[8].said, HasSubstr("127.0.0.1:1"));
  const ControlSpread spread = SpreadOf(outcomes);
  EXPECT_GT(spread.ns, 0);
  EXPECT_LT(spread.ns, 5'000'000'000);
  EXPECT_THAT(spread.Text("worker"),
              testing::MatchesRegex("8 of 9 workers reached within [0-9.]+ ms"));
}

TEST(SpreadOf, WithoutAnAnswerThereIsNoSpread) {
  const ControlOutcome told{.url = "a",
                            .verdict = ControlVerdict::kDone,
                            .status = 200,
                            .said = "",
                            .sent_ns = 7'000'000,
                            .answered_ns = 8'000'000};
  const ControlOutcome silent{.url = "b",
                              .verdict = ControlVerdict::kNoAnswer,
                              .status = 0,
                              .said = "no answer",
                              .sent_ns = 0,
                              .answered_ns = 0};
  EXPECT_EQ(SpreadOf({told, silent}).Text("profiler"), "1 of 2 profilers reached");
  EXPECT_EQ(SpreadOf({silent, silent}).Text("profiler"), "0 of 2 profilers reached");
  EXPECT_EQ(SpreadOf({told}).Text("profiler"), "1 profiler reached");
  ControlOutcome second = told;
  second.sent_ns += 20'000;
  second.answered_ns += 3'000'000'000;  // its start took long
  EXPECT_EQ(SpreadOf({told, second}).Text("profiler"), "2 profilers reached within 0.02 ms");
  EXPECT_EQ(SpreadOf({told, second}).answered_ns, 3'000'000'000);
  EXPECT_EQ(SpreadOf({told, silent}).answered_ns, std::nullopt);
}

}  // namespace
}  // namespace tacho
