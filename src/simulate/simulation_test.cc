#include "simulate/simulation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/folder_for_test.h"
#include "net/http_client.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

class SimulationTest : public ::testing::Test {
 protected:
  SimulationOptions Options(SimulatedEngine kind) {
    SimulationOptions options;
    WorkerOptions& worker = options.worker;
    worker.kind = kind;
    worker.version = kind == SimulatedEngine::kVllm ? "0.32" : "0.5.23";
    worker.served_model = "tiny";
    worker.cost = {*FindModelShape("tiny"), *FindHardware("h100"), 2, 10};
    worker.limits.mixes = kind == SimulatedEngine::kVllm;
    worker.trace_folder = folder_.path();
    worker.temp_folder = std::filesystem::temp_directory_path().string();
    worker.truth = true;
    worker.profiler_config = Json{
        {"profiler", "torch"},
        {"torch_profiler_dir", folder_.path()},
        {"torch_profiler_use_gzip", false},
        {"ignore_frontend",
         true}}.dump();
    return options;
  }
  void Start(const SimulationOptions& options) {
    auto started = Simulation::Start(options);
    ASSERT_TRUE(started) << started.error().message;
    simulation_ = std::move(*started);
  }
  HttpRequest Request(const std::string& url, const std::string& body = "") {
    HttpRequest request;
    request.method = body.empty() ? "GET" : "POST";
    request.url = url;
    request.body = body;
    request.headers.push_back({"Content-Type", "application/json"});
    return request;
  }
  HttpResponse Ask(const std::string& url, const std::string& body = "") {
    const auto response = client_->Fetch(Request(url, body));
    return response ? *response : HttpResponse{};
  }
  std::string Worker(size_t i) const { return simulation_->workers()[i].url; }
  size_t FilesWith(const std::string& text) const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      count += entry.path().filename().string().find(text) != std::string::npos ? 1 : 0;
    }
    return count;
  }
  bool WaitFor(const std::function<bool()>& condition) const {
    for (int i = 0; i < 1000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  FolderForTest folder_;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create().value();
  std::unique_ptr<Simulation> simulation_;
};

constexpr const char* kCompletion =
    R"({"prompt":[1,2,3],"max_tokens":8,"ignore_eos":true,"stream":true})";

TEST_F(SimulationTest, VllmBehindItsRouter) {
  SimulationOptions options = Options(SimulatedEngine::kVllm);
  options.count = 2;
  options.router = RouterKind::kVllm;
  Start(options);
  const std::string router = simulation_->RouterUrl();
  EXPECT_EQ(Json::parse(Ask(router + "/workers").body)["total"], 2);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(Ask(Worker(i) + "/start_profile", "{}").status, 200);
  std::vector<HttpRequest> load(24, Request(router + "/v1/completions", kCompletion));
  for (const auto& response : client_->FetchAll(load)) {
    ASSERT_TRUE(response);
    EXPECT_TRUE(response->body.ends_with("data: [DONE]\n\n"));
  }
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(Ask(Worker(i) + "/stop_profile", "{}").status, 200);
  EXPECT_EQ(FilesWith(".truth.json"), 4U);
  EXPECT_EQ(Ask(simulation_->PrometheusUrl()).status, 200);
}

TEST_F(SimulationTest, SglangBehindItsRouter) {
  SimulationOptions options = Options(SimulatedEngine::kSglang);
  options.count = 2;
  options.router = RouterKind::kSglang;
  Start(options);
  const std::string body = Json{{"output_dir", folder_.path()}, {"num_steps", 3}}.dump();
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(Ask(Worker(i) + "/start_profile", body).status, 200);
  for (size_t i = 0; i < 2; ++i) {
    std::vector<HttpRequest> load(
        8, Request(Worker(i) + "/generate",
                   R"({"text":"hello","stream":true,"sampling_params":{"max_new_tokens":9}})"));
    for (const auto& response : client_->FetchAll(load)) EXPECT_TRUE(response);
  }
  EXPECT_TRUE(WaitFor([&] { return FilesWith(".truth.json") == 4; }));
  EXPECT_EQ(Ask(simulation_->RouterUrl() + "/generate",
                R"({"text":"hello","sampling_params":{"max_new_tokens":3}})")
                .status,
            200);
  EXPECT_EQ(Ask(simulation_->RouterUrl() + "/start_profile", "{}").status, 404);
}

// A router's worker may be another process: it is reached over HTTP, and streams pass.
TEST_F(SimulationTest, RouterTakesForeignWorkers) {
  SimulationOptions options = Options(SimulatedEngine::kVllm);
  options.count = 1;
  options.router = RouterKind::kVllm;
  Start(options);
  SimulationOptions other_options = Options(SimulatedEngine::kVllm);
  auto other = Simulation::Start(other_options);
  ASSERT_TRUE(other);
  const std::string router = simulation_->RouterUrl();
  const std::string foreign = (*other)->workers()[0].url;
  EXPECT_EQ(Ask(router + "/add_worker?url=" + foreign, "{}").status, 200);
  std::vector<HttpRequest> load(10, Request(router + "/v1/completions", kCompletion));
  for (const auto& response : client_->FetchAll(load)) {
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_TRUE(response->body.ends_with("data: [DONE]\n\n"));
  }
  const std::string metrics = Ask(foreign + "/metrics").body;
  EXPECT_NE(metrics.find("vllm:request_success_total{engine=\"0\",model_name=\"tiny\","
                         "finished_reason=\"length\"} 5.0"),
            std::string::npos);
}

TEST_F(SimulationTest, DiesInTheFlushAndIsGone) {
  SimulationOptions options = Options(SimulatedEngine::kVllm);
  options.worker.faults = Faults({*ParseFault("die-in-flush")});
  Start(options);
  EXPECT_EQ(Ask(Worker(0) + "/start_profile", "{}").status, 200);
  Ask(Worker(0) + "/v1/completions", kCompletion);
  EXPECT_EQ(Ask(Worker(0) + "/stop_profile", "{}").status, 500);
  EXPECT_TRUE(WaitFor([&] { return Ask(Worker(0) + "/health").status == 0; }));
}

TEST_F(SimulationTest, WindowFromOutsideCutsSteps) {
  Start(Options(SimulatedEngine::kVllm));
  std::atomic<size_t> done = 0;
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const std::vector<int64_t>& ranks = simulation_->workers()[0].rank_pids;
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_GT(std::min(simulation_->workers()[0].pid, ranks[0]), 4'194'304) << "may be somebody's";
  const auto order = [&](int64_t pid) {
    TraceWindowOrder window;
    window.pid = pid;
    window.process_name = "VLLM::EngineCore";
    window.path = folder_.At("daemon_" + std::to_string(pid) + ".json");
    window.start_unix_ns = now + 50'000'000;
    window.duration_ns = 200'000'000;
    window.done = [&] { ++done; };
    return window;
  };
  for (const int64_t pid : ranks) simulation_->TraceWindow(0, order(pid));
  simulation_->TraceWindow(0, order(ranks[0] - 1));  // a process of no rank: it records nothing
  std::vector<HttpRequest> load(
      4, Request(Worker(0) + "/v1/completions",
                 R"({"prompt":[1,2,3],"max_tokens":2000,"ignore_eos":true,"stream":true})"));
  client_->FetchAll(load);
  ASSERT_TRUE(WaitFor([&] { return done.load() == 3; }));
  const auto text = [&](int64_t pid) {
    std::ifstream file(order(pid).path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (const int64_t pid : ranks) {
    const Json trace = Json::parse(text(pid));
    EXPECT_GT(trace["traceEvents"].size(), 100U);
    for (const char* key : {"distributedInfo", "vllm_version", "trace_id"})
      EXPECT_FALSE(trace.contains(key)) << key;
    EXPECT_TRUE(trace.contains("cuda_driver_version"));
    EXPECT_EQ(text(pid).find("execute_"), std::string::npos);
  }
  // Except for numbers and paths, this is exactly what a vLLM process without events wrote.
  const Json nothing = Json::parse(text(ranks[0] - 1));
  EXPECT_EQ(nothing["traceEvents"].size(), 4U);
  EXPECT_EQ(nothing["traceEvents"][0]["args"]["name"], "VLLM::EngineCore");
  EXPECT_EQ(nothing["deviceProperties"].size(), 0U);
}

// The end may come at any time: with open streams, a half-written trace, a hanging answer.
TEST_F(SimulationTest, EndsInTheMiddleOfEverything) {
  SimulationOptions options = Options(SimulatedEngine::kVllm);
  options.count = 3;
  options.router = RouterKind::kVllm;
  options.worker.faults = Faults({*ParseFault("slow-flush@0:60s"), *ParseFault("hang-stop@1")});
  Start(options);
  for (size_t i = 0; i < 3; ++i) Ask(Worker(i) + "/start_profile", "{}");
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      client_->Fetch(
          Request(simulation_->RouterUrl() + "/v1/completions",
                  R"({"prompt":[1],"max_tokens":20000,"ignore_eos":true,"stream":true})"));
    });
  }
  for (size_t i = 0; i < 3; ++i) {
    clients.emplace_back(
        [&, url = Worker(i)] { client_->Fetch(Request(url + "/stop_profile", "{}")); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto begun = std::chrono::steady_clock::now();
  simulation_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

}  // namespace
}  // namespace tacho::simulate
