#include "control/log/engine_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

std::string ProfilerMessage(std::string_view line) {
  const LogLine read = ReadLogLine(line);
  return read.Says(LogSign::kProfiler) ? read.text : "";
}

TEST(EngineLogLine, OfTheProfilersOfBothEngines) {
  EXPECT_EQ(ProfilerMessage("(Worker pid=7) INFO 11-21 11:49:36 [wrapper.py:65] Profiler stopped."),
            "Profiler stopped.");
  EXPECT_EQ(ProfilerMessage("\x1b[32m[2026-11-21 12:16:01 DP1]\x1b[0m Stop profiling...\r"),
            "Stop profiling...");
  EXPECT_EQ(ProfilerMessage("Profiling done"), "Profiling done");
  EXPECT_EQ(ProfilerMessage(
                "INFO 11-21 11:49:36 [shm_broadcast.py:1] No available shared memory broadcast "
                "block found in 60 seconds."),
            "No available shared memory broadcast block found in 60 seconds.");
  EXPECT_EQ(ProfilerMessage("INFO: 127.0.0.1:1 - \"POST /start_profile HTTP/1.1\" 200 OK"), "");
  EXPECT_EQ(ProfilerMessage("INFO 11-21 11:49:36 [loggers.py:199] Avg prompt throughput"), "");
}

TEST(EngineLog, AStartThatKinetoRefusesIsAFailure) {
  const FolderForTest folder;
  const std::string path = folder.At("log");
  EngineLog log(path);
  const std::string line =
      "ERROR:2026-11-22 03:15:26 7627:7701 GenericActivityProfiler.cpp:63] Not starting tracing - "
      "start timestamp is in the past. Time difference (ms): 7842";
  std::ofstream(path) << line << '\n';
  EXPECT_EQ(log.Failure(), line);
}

TEST(EngineLog, ABarOfProgressNamesThePhaseBeforeItsEnd) {
  const FolderForTest folder;
  const std::string path = folder.At("log");
  EngineLog log(path);
  std::ofstream(path) << "INFO 11-21 11:49:36 [a.py:1] Starting to load model m...\n";
  EXPECT_EQ(log.StartPhase(), "loading the weights");
  std::ofstream(path, std::ios::app) << "Capturing CUDA graphs:   0%|  | 0/3\rCapturing CUDA";
  EXPECT_EQ(log.StartPhase(), "capturing CUDA graphs");
  std::ofstream(path, std::ios::app) << " graphs: 100%\nsomething else\n";
  EXPECT_EQ(log.StartPhase(), "capturing CUDA graphs");
}

TEST(EngineLog, TellsWhatIsNew) {
  const FolderForTest folder;
  const std::string path = folder.Write("log", "[old] Profiler started\n");
  EngineLog log(path);
  EXPECT_EQ(log.LastWord(), "");
  std::ofstream(path, std::ios::app) << "INFO 11-21 11:49:36 [a.py:1] Stopping "
                                        "profiler...\nother\nINFO 11-21 11:49:36 [a.py:2] Fai";
  EXPECT_EQ(log.LastWord(), "Stopping profiler...");
  EXPECT_EQ(log.Failure(), "");
  std::ofstream(path, std::ios::app)
      << "led\nRuntimeError: Profiling is not in progress. Call /start_profile first.\n";
  EXPECT_EQ(log.Failure(), "");
  std::ofstream(path, std::ios::app) << "INFO 11-21 11:49:36 [a.py:2] Fai";
  std::ofstream(path, std::ios::app) << "led to stop profiler: x\n";
  EXPECT_EQ(log.Failure(), "Failed to stop profiler: x");
  EXPECT_EQ(log.LastWord(), "Failed to stop profiler: x");
  EXPECT_EQ(log.Text(),
            "INFO 11-21 11:49:36 [a.py:1] Stopping profiler...\nother\nINFO 11-21 11:49:36 "
            "[a.py:2] Failed\nRuntimeError: Profiling is "
            "not in progress. Call /start_profile first.\nINFO 11-21 11:49:36 [a.py:2] Failed to "
            "stop profiler: x\n");
  EXPECT_EQ(log.Death(), "");
  std::ofstream(path, std::ios::app)
      << "ERROR 11-21 11:49:36 [multiproc_executor.py:270] Worker proc VllmWorker-0 died "
         "unexpectedly (exit code: "
         "-9), shutting down executor.\nRuntimeError: Executor failed.\n";
  EXPECT_EQ(log.Death(),
            "Worker proc VllmWorker-0 died unexpectedly (exit code: -9), shutting down executor.");
  std::ofstream(path) << "Profiler, rotated\n";
  EXPECT_EQ(log.LastWord(), "Profiler, rotated");
  std::filesystem::remove(path);
  EXPECT_EQ(log.LastWord(), "Profiler, rotated");
  EXPECT_EQ(EngineLog().LastWord(), "");
}

// A key whose name was cut off would not be recognized as one.
TEST(EngineLog, ATextThatIsTooLongBeginsWithALine) {
  const FolderForTest folder;
  const std::string path = folder.Write("log", "");
  const EngineLog log(path);
  std::ofstream(path, std::ios::app) << "api_key=" << std::string(5 << 20, 'x') << "\nlast\n";
  EXPECT_EQ(log.Text(), "last\n");
}

}  // namespace
}  // namespace tacho
