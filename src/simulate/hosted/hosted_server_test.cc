#include "simulate/hosted/hosted_server.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/folder_for_test.h"
#include "net/http_client.h"
#include "simulate/simulation.h"

// The tests check what the public documentation of these servers says.
namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

class HostedServerTest : public ::testing::Test {
 protected:
  void Start(SimulatedEngine kind, HostKind host, RouterKind router = RouterKind::kNone) {
    SimulationOptions options;
    WorkerOptions& worker = options.worker;
    worker.kind = kind;
    worker.host = host;
    worker.version = kind == SimulatedEngine::kVllm ? "0.32" : "0.5.23";
    worker.served_model = "tiny";
    worker.cost = {*FindModelShape("tiny"), *FindHardware("h100"), 1, 10};
    worker.trace_folder = folder_.path();
    worker.temp_folder = std::filesystem::temp_directory_path().string();
    worker.profiler_config =
        Json{{"profiler", "torch"}, {"torch_profiler_dir", folder_.path()}}.dump();
    options.router = router;
    auto started = Simulation::Start(options);
    ASSERT_TRUE(started) << started.error().message;
    simulation_ = std::move(*started);
  }
  std::string Worker() const { return simulation_->workers()[0].url; }
  HttpResponse Send(const std::string& method, const std::string& url,
                    const std::string& body = "") {
    HttpRequest request;
    request.method = method;
    request.url = url;
    request.body = body;
    if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    const auto response = client_->Fetch(request);
    return response ? *response : HttpResponse{};
  }
  // Sends one request that takes some decode steps.
  void Work(const std::string& url, int tokens = 8) {
    EXPECT_EQ(Send("POST", url + "/v1/completions",
                   Json{{"model", "tiny"},
                        {"prompt", {5, 6, 7}},
                        {"max_tokens", tokens},
                        {"ignore_eos", true}}
                       .dump())
                  .status,
              200);
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  FolderForTest folder_;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create().value();
  std::unique_ptr<Simulation> simulation_;
};

TEST_F(HostedServerTest, TensorRtLlmRefusesASecondStartAndNamesItsFiles) {
  Start(SimulatedEngine::kSglang, HostKind::kTensorRtLlm);
  const std::string start = Worker() + "/start_profile";
  EXPECT_EQ(Send("GET", start).status, 404) << "POST alone";
  EXPECT_EQ(Json::parse(Send("GET", Worker() + "/v1/models").body)["data"][0]["owned_by"],
            "tensorrt_llm");
  Work(Worker());
  // start_step is relative: two iterations go by before the window begins.
  EXPECT_EQ(Send("POST", start, R"({"start_step":2,"num_steps":3})").status, 200);
  const HttpResponse second = Send("POST", start, "{}");
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(Json::parse(second.body)["success"], false);
  Work(Worker(), 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_THAT(Files(), testing::ElementsAre(
                           testing::MatchesRegex("trtllm-trace-[0-9]+-[0-9a-f]+-rank-0.json")));
  EXPECT_EQ(Send("POST", start, "{}").status, 200) << "the window has ended by itself";
  EXPECT_EQ(Send("POST", Worker() + "/stop_profile").status, 200);
}

TEST_F(HostedServerTest, TensorRtLlmTakesBackAWindowThatHasNotBegun) {
  Start(SimulatedEngine::kSglang, HostKind::kTensorRtLlm);
  const std::string start = Worker() + "/start_profile";
  for (const char* field : {"start_step", "num_steps"})
    EXPECT_EQ(Send("POST", start, Json{{field, "x"}}.dump()).status, 422) << field;
  EXPECT_EQ(Send("POST", start, R"({"num_steps":3})").status, 200);
  EXPECT_EQ(Send("POST", start, "{}").status, 409) << "it waits for its first step";
  EXPECT_EQ(Send("POST", Worker() + "/stop_profile").status, 200);
  Work(Worker());
  EXPECT_THAT(Files(), testing::IsEmpty());
  EXPECT_EQ(Send("POST", start, "{}").status, 200);
}

TEST_F(HostedServerTest, ABadRequestIsNoBusyEngine) {
  const auto is_bad = [&](const std::string& url) {
    const std::string bad = Send("POST", url, R"({"num_steps":"x"})").body;
    EXPECT_THAT(bad, testing::HasSubstr("valid integer"));
    EXPECT_THAT(bad, testing::Not(testing::HasSubstr("already in progress")));
    Send("POST", url, R"({"start_step":1000000})");
    EXPECT_THAT(Send("POST", url, R"({"num_steps":"x"})").body,
                testing::HasSubstr("valid integer"));
  };
  Start(SimulatedEngine::kSglang, HostKind::kTokenSpeed);
  is_bad(Worker() + "/start_profile");
  Start(SimulatedEngine::kSglang, HostKind::kDynamo, RouterKind::kDynamo);
  is_bad(Worker() + "/engine/control/start_profile");
  Start(SimulatedEngine::kSglang, HostKind::kNone, RouterKind::kSmgGrpc);
  const std::string smg = simulation_->RouterUrl() + "/start_profile";
  is_bad(smg);
  EXPECT_EQ(Send("POST", smg, R"({"url":5})").status, 422);
  EXPECT_EQ(Send("POST", smg, "[]").status, 422);
  Start(SimulatedEngine::kVllm, HostKind::kNone, RouterKind::kSmgGrpc);
  EXPECT_EQ(
      Json::parse(
          Send("GET", simulation_->RouterUrl() + "/workers").body)["workers"][0]["runtime_type"],
      "vllm");
}

TEST_F(HostedServerTest, TokenSpeedAnswersAsItsSmg) {
  Start(SimulatedEngine::kSglang, HostKind::kTokenSpeed);
  EXPECT_EQ(Send("GET", Worker() + "/start_profile").status, 405);
  const HttpResponse idle = Send("POST", Worker() + "/stop_profile");
  EXPECT_THAT(idle.body, testing::HasSubstr("Profiling is not in progress"));
  EXPECT_EQ(Json::parse(idle.body)["failed"].size(), 1u);
  EXPECT_EQ(Json::parse(Send("POST", Worker() + "/start_profile", "{}").body)["failed"],
            Json::array());
  Work(Worker());
  EXPECT_EQ(Json::parse(Send("POST", Worker() + "/stop_profile").body)["successful"].size(), 1u);
  EXPECT_THAT(Files(), testing::ElementsAre(testing::EndsWith("-TP0.trace.json.gz")));
}

TEST_F(HostedServerTest, DynamoSaysInTheBodyWhatWentWrong) {
  Start(SimulatedEngine::kVllm, HostKind::kDynamo, RouterKind::kDynamo);
  EXPECT_EQ(Send("GET", Worker() + "/v1/models").status, 404) << "no requests at a system port";
  EXPECT_EQ(Send("POST", Worker() + "/engine/start_profile").status, 404);
  Work(simulation_->RouterUrl());
  const std::string start = Worker() + "/engine/control/start_profile";
  EXPECT_EQ(Json::parse(Send("POST", start, R"({"profile_prefix":"p"})").body)["status"], "ok");
  const HttpResponse second = Send("POST", start, "{}");
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(Json::parse(second.body)["status"], "error");
  EXPECT_THAT(second.body, testing::HasSubstr("already active"));
  Work(simulation_->RouterUrl());
  EXPECT_EQ(Json::parse(Send("POST", Worker() + "/engine/control/stop_profile").body)["status"],
            "ok");
  EXPECT_THAT(Files(), testing::Contains(testing::StartsWith("p_rank0.")));
}

TEST_F(HostedServerTest, SmgTellsWhichWorkersFailed) {
  Start(SimulatedEngine::kSglang, HostKind::kNone, RouterKind::kSmgZmq);
  const std::string start = simulation_->RouterUrl() + "/start_profile";
  EXPECT_EQ(Send("GET", start).status, 405);
  const HttpResponse zmq = Send("POST", start, "{}");
  EXPECT_THAT(zmq.body, testing::HasSubstr("start_profile is not supported over ZMQ"));
  Start(SimulatedEngine::kSglang, HostKind::kNone, RouterKind::kSmgGrpc);
  const Json list = Json::parse(Send("GET", simulation_->RouterUrl() + "/workers").body);
  const std::string url = list["workers"][0]["url"];
  EXPECT_THAT(url, testing::StartsWith("grpc://"));
  const std::string again = simulation_->RouterUrl() + "/start_profile";
  EXPECT_EQ(Json::parse(
                Send("POST", again, Json{{"url", "grpc://other:1"}}.dump()).body)["total_workers"],
            0);
  EXPECT_EQ(Json::parse(Send("POST", again, Json{{"url", url}}.dump()).body)["successful"][0], url);
}

}  // namespace
}  // namespace tacho::simulate
