#include "control/log/launch_log.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(LaunchLog, TheLastRouterWinsAndTheHostStays) {
  LaunchLog log = ReadLaunchLog(
      "(RolloutManager pid=1) Router launched at 10.0.0.5:3456, Prometheus port: 4456\n"
      "noise: 12:00\n"
      "Router launched at 10.0.0.7:3999, Prometheus port: 4999\n"
      "Router launched at 10.0.0.5:3456, Prometheus port: 4456\n");
  ASSERT_EQ(log.routers.size(), 2u);
  EXPECT_EQ(log.routers[0].url, "http://10.0.0.7:3999");
  EXPECT_EQ(log.routers[1].url, "http://10.0.0.5:3456");
  EXPECT_EQ(log.routers[1].line, 4u);
}

TEST(LaunchLog, ReadsThroughColours) {
  LaunchLog log = ReadLaunchLog(
      "\x1b[2m2026-11-21\x1b[0m \x1b[32m INFO\x1b[0m vllm_router_rs::server: src/server.rs:1025: "
      "Starting router on 127.0.0.1:30055 | mode: Regular\r\n");
  ASSERT_EQ(log.routers.size(), 1u);
  EXPECT_EQ(log.routers[0].url, "http://127.0.0.1:30055");
}

TEST(LaunchLog, EnginesByNumberAndByAddress) {
  LaunchLog log = ReadLaunchLog(
      "Ports for engine 0: {'host': '10.0.0.1', 'port': 15000, 'nccl_port': 15001}\n"
      "Ports for engine 1: {'host': 'fd00::2', 'port': 15010}\n"
      "Ports for engine 0: {'host': '10.0.0.1', 'port': 15020}\n"
      "Launch vLLM OpenAI api_server at: 10.0.0.9:8000 (rank=0 node_rank=0/1)\n"
      "(APIServer pid=7) INFO [launcher.py:30] Starting vLLM server on http://0.0.0.0:8101\n"
      "INFO:     Uvicorn running on http://[::1]:30000 (Press CTRL+C to quit)\n");
  std::vector<std::string> urls;
  for (const auto& engine : log.engines) urls.push_back(engine.url);
  EXPECT_EQ(urls, (std::vector<std::string>{"http://10.0.0.9:8000", "http://0.0.0.0:8101",
                                            "http://[::1]:30000", "http://10.0.0.1:15020",
                                            "http://[fd00::2]:15010"}));
  EXPECT_TRUE(log.routers.empty());
}

// vime logs a line for each node of an engine; only the first one has a server.
TEST(LaunchLog, OnlyTheFirstNodeOfAnEngineHasAServer) {
  const LaunchLog log = ReadLaunchLog(
      "Launch vLLM OpenAI api_server at: 10.0.0.9:8000 (rank=0 node_rank=0/2)\n"
      "Launch vLLM OpenAI api_server at: 10.0.0.10:8000 (rank=0 node_rank=1/2)\n"
      "Launch HttpServerEngineAdapter at: 10.0.0.11:15000\n");
  ASSERT_EQ(log.engines.size(), 2u);
  EXPECT_EQ(log.engines[0].url, "http://10.0.0.9:8000");
  EXPECT_EQ(log.engines[1].url, "http://10.0.0.11:15000") << "slime";
}

TEST(LaunchLog, IncompleteLinesAreIgnored) {
  EXPECT_TRUE(ReadLaunchLog("Router launched at \nRouter launched at host\nRouter launched at :1\n"
                            "Router launched at host:\nPorts for engine 0: {'host': 'x'}\n"
                            "Starting vLLM server on port 8000: maybe\n")
                  .empty());
  EXPECT_TRUE(ReadLaunchLog("").empty());
}

}  // namespace
}  // namespace tacho
