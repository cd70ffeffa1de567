#include "control/log/log_checks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <sstream>

#include "control/log/log_rules.h"

// Lines from real logs: of the engines that tools/engines runs, from ../tests/data/engine-logs, and
// from the GitHub threads that are named.

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto kVllmLog = EngineKind::kVllm, kSglangLog = EngineKind::kSglang,
               kAnyLog = EngineKind::kUnknown;
const std::string kVllmStart =
    "(APIServer pid=1) INFO 11-25 02:48:39 [api_router.py:39] Starting profiler...\n";
const std::string kVllmEnd =
    "(APIServer pid=1) INFO 11-25 02:48:50 [api_router.py:52] Profiler stopped.\n";
const std::string kSglangStart =
    "[2026-11-25 02:50:12] Profiling starts. Traces will be saved to: /t (with profile id: 1)\n";

std::vector<Finding> CheckLog(EngineKind kind, std::string_view version, std::string_view log) {
  return ReadLog(kind, version, log).findings;
}

std::vector<std::string> LogIds(EngineKind kind, std::string_view version, std::string_view log) {
  std::vector<std::string> ids;
  for (const Finding& finding : CheckLog(kind, version, log))
    ids.emplace_back(KindOf(finding.id).id);
  return ids;
}

std::string EngineLogNamed(const std::string& name) {
  std::ifstream file(TACHO_SOURCE_DIR "/tests/data/engine-logs/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

struct LogCase {
  const char* id;  // nullptr: nothing above info
  EngineKind kind;
  const char* version;
  std::string log;
};

class LogChecksCases : public testing::TestWithParam<LogCase> {};

TEST_P(LogChecksCases, FindsThisAlone) {
  const LogCase& given = GetParam();
  const auto findings = CheckLog(given.kind, given.version, given.log);
  if (given.id == nullptr) {
    for (const Finding& finding : findings)
      EXPECT_EQ(finding.severity(), FindingSeverity::kInfo) << finding.Text();
    return;
  }
  ASSERT_THAT(LogIds(given.kind, given.version, given.log), ElementsAre(given.id)) << given.log;
  EXPECT_FALSE(findings.front().remedy.empty());
  EXPECT_THAT(findings.front().evidence, HasSubstr("of the log"));
}

const std::string kWorkerWarns = "(Worker pid=7) WARNING 11-25 02:48:39 [wrapper.py:100] ";
const std::string kCoreFails = "(EngineCore pid=3) ERROR 11-25 02:48:45 [core.py:640] ";

INSTANTIATE_TEST_SUITE_P(
    Triggers, LogChecksCases,
    testing::Values(
        LogCase{
            "needs-gpu", kVllmLog, "0.32.0",
            "(VllmWorker-0 pid=34) ERROR 11-24 16:02:39 [multiproc_executor.py:953] ValueError: "
            "Unsupported profiler type for cpu: cuda. Supported profiler types: torch.\n"},
        LogCase{"needs-gpu", kSglangLog, "0.5.23", "AssertionError: No activities specified\n"},
        LogCase{"rust-front-end", kVllmLog, "0.24.0",
                "INFO 06-18 10:00:00 [utils.py:372] Launching Rust frontend: vllm-rs serve\n"},
        LogCase{"function-trace", kVllmLog, "0.32.0",
                "WARNING 11-25 02:48:39 [logger.py:416] VLLM_TRACE_FUNCTION is enabled. It will "
                "record every function executed by Python.\n"},
        LogCase{"profiler-v2", kSglangLog, "",
                "AssertionError: only support profile_by_stage=true now\n"},
        LogCase{"schedule-once", kVllmLog, "0.20.0",
                "(Worker pid=7) INFO 11-25 02:48:39 [wrapper.py:286] Profiler schedule configured: "
                "wait=1, warmup=2, active=3\n"},
        LogCase{"port-in-use", kVllmLog, "0.32.0",
                "(APIServer pid=1) OSError: [Errno 98] Address already in use\n"},
        LogCase{
            "port-in-use", kSglangLog, "0.5.23",
            "[2026-11-25 02:50:12] ERROR:    [Errno 98] error while attempting to bind on address "
            "('127.0.0.1', 30000): address already in use\n"},
        LogCase{"profiler-off", kVllmLog, "0.32.0",
                "INFO:     127.0.0.1:5 - \"POST /start_profile HTTP/1.1\" 404 Not Found\n"},
        LogCase{"start-refused", kVllmLog, "0.32.0",
                "INFO:     127.0.0.1:5 - \"POST /start_profile HTTP/1.1\" 409 Conflict\n"},
        LogCase{"start-refused", kSglangLog, "0.5.23",
                "RuntimeError: Profiling is already in progress. Call /stop_profile first.\n"},
        LogCase{"stop-without-session", kSglangLog, "0.5.23",
                "RuntimeError: Profiling is not in progress. Call /start_profile first.\n"},
        LogCase{"front-end-thread", kVllmLog, "0.32.0",
                "ERROR: External init callback must run in same thread as registerClient "
                "(-2121292096 != -1235211392)\n"},
        // vllm-ascend #15411
        LogCase{
            "npu-profiler-thread", kVllmLog, "0.23.0",
            "/x/torch_npu/profiler/profiler.py: a warning\nERROR: External init callback must run "
            "in same thread as registerClient (319284960 != -1634099168)\n"},
        LogCase{"log-failure", kVllmLog, "0.32.0",
                "ERROR:2026-11-22 03:15:26 7627:7701 GenericActivityProfiler.cpp:63] Not starting "
                "tracing - start timestamp is in the past. Time difference (ms): 7842\n"},
        LogCase{"no-daemon", kVllmLog, "0.32.0",
                "ERROR:2026-11-22 03:15:26 7:7 IpcFabricConfigClient.cpp:96] Failed to send config "
                "type=1 to dyno: IPC sync_send fail\n"},
        LogCase{"waits-for-flush", kVllmLog, "0.32.0",
                kVllmStart + "(EngineCore pid=3) INFO 11-25 02:49:39 [shm_broadcast.py:1] No "
                             "available shared memory broadcast block found in 60 seconds.\n"},
        // vllm #17965, #19668; intel/llm-scaler #77
        LogCase{"flush-timed-out", kVllmLog, "0.14.0",
                kVllmStart + kCoreFails + "TimeoutError: RPC call to execute_model timed out.\n"},
        LogCase{"disk-full", kVllmLog, "0.32.0",
                kWorkerWarns + "Failed to stop profiler: [Errno 28] No space left on device\n"},
        LogCase{"trace-folder-bad", kVllmLog, "0.32.0",
                kWorkerWarns +
                    "Failed to stop profiler: Can't create directory: /proc/nowhere/traces\n"},
        LogCase{"trace-folder-bad", kVllmLog, "0.32.0",
                kWorkerWarns + "Failed to stop profiler: [Errno 13] Permission denied: '/t/a'\n"},
        LogCase{"log-failure", kVllmLog, "0.32.0",
                kWorkerWarns + "Failed to start profiler: Can't start Kineto profiler\n"},
        LogCase{"log-failure", kVllmLog, "0.32.0", kWorkerWarns + "Failed to stop profiler: x\n"},
        LogCase{"table-not-made", kVllmLog, "0.32.0",
                kWorkerWarns +
                    "Failed to stop profiler: 'utf-8' codec can't decode byte 0xa0 in position "
                    "37: invalid start byte\n"},
        // vllm #8560, #18240
        LogCase{
            "stack-replay", kVllmLog, "0.6.1",
            "RuntimeError: !stack.empty() INTERNAL ASSERT FAILED at "
            "\"../torch/csrc/autograd/profiler_python.cpp\":969, please report a bug to PyTorch. "
            "Python replay stack is empty.\n"},
        LogCase{"merge-failed", kSglangLog, "0.5.23",
                "[2026-11-25 02:50:12] Profiling done. Traces are saved to: /data/traces Merge "
                "failed: No trace files found for profile_id: 1795575012.9353826\n"},
        // pytorch #112389
        LogCase{"gpu-tracing-off", kSglangLog, "0.5.23",
                "WARNING:2024-12-19 06:36:11 2047:2047 init.cpp:175] CUPTI initialization failed - "
                "CUDA profiler activities will be missing\n"},
        // vllm #22746; sglang #15132
        LogCase{"gpu-tracing-off", kVllmLog, "",
                "WARNING:2024-12-19 06:36:11 2047:2047 init.cpp:174] function "
                "cbapi->getCuptiStatus() failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES "
                "(35)\n"},
        LogCase{"launch-failed", kVllmLog, "0.10.0",
                "Capture range started in the application.\nRuntimeError: CUDA error: unspecified "
                "launch failure\n"},
        LogCase{"launch-failed", kSglangLog, "0.5.6",
                kSglangStart + "RuntimeError: CUDA error: unspecified launch failure\n"},
        LogCase{"gpu-memory-full", kVllmLog, "0.20.0",
                kVllmStart + kCoreFails + "torch.OutOfMemoryError: CUDA out of memory.\n"},
        LogCase{"gpu-memory-full", kSglangLog, "0.5.6",
                "torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 2 GiB.\n"},
        LogCase{"gpu-memory-full", kSglangLog, "0.5.6",
                "RuntimeError: CUDA error: out of memory\n"},
        // vllm #24430
        LogCase{"gpu-memory-full", kVllmLog, "0.32.0",
                "torch.AcceleratorError: CUDA error: out of memory\n"},
        // The host's memory is full: ray's memory monitor.
        LogCase{"worker-killed", kVllmLog, "0.20.0",
                "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on "
                "memory.\n"},
        LogCase{"worker-killed", kAnyLog, "",
                "(raylet) 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 "
                "Workers crashed due to other reasons at node (ID: 1, IP: 10.0.0.1)\n"},
        LogCase{"stop-hangs", kSglangLog, "0.5.6",
                kSglangStart + "  File \"/x/torch/autograd/profiler.py\", line 370 in __exit__\n"},
        LogCase{"collective-timed-out", kSglangLog, "0.5.6",
                kSglangStart +
                    "[rank0]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] "
                    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1) ran "
                    "for 600081 milliseconds before timing out.\n"},
        LogCase{"worker-killed", kVllmLog, "0.32.0",
                "(EngineCore pid=3) ERROR 11-25 02:48:45 [multiproc_executor.py:316] Worker proc "
                "VllmWorker-0 died unexpectedly (exit code: -9), shutting down executor.\n"},
        LogCase{"worker-killed", kVllmLog, "0.32.0",
                "RuntimeError: Engine core initialization failed. See root cause above. Failed "
                "core proc(s): {'EngineCore_DP1': -9}\n"},
        LogCase{"worker-killed", kVllmLog, "0.32.0",
                "RuntimeError: Process ApiServer_1 (PID: 7) died with exit code -9\n"},
        LogCase{"worker-killed", kSglangLog, "0.5.23", "[2026-11-25 02:50:13] Exit code: -9\n"},
        LogCase{"worker-killed", kSglangLog, "0.5.23",
                "[2026-11-25 02:50:13] Subprocess scheduler_0 (pid=7) crashed with exit code -9. "
                "Triggering SIGQUIT for cleanup...\n"},
        LogCase{"crash-while-profiled", kSglangLog, "0.5.23",
                kSglangStart + "!!!!!!! Segfault encountered !!!!!!!\n"},
        // vllm #3053, #6252
        LogCase{"crash-while-profiled", kVllmLog, "",
                kVllmStart + "Fatal Python error: Segmentation fault\n"},
        LogCase{"nsys-not-imported", kAnyLog, "",
                "Importer error status: The importer binary and its dependencies were not found.\n"
                "Generating '/tmp/nsys-report-9702.qdstrm'\nGenerated:\n    /x/a.qdstrm\n"},
        LogCase{"forks-not-traced", kAnyLog, "",
                "SKIPPED: /x/a.sqlite does not contain CUDA kernel data.\n"},
        LogCase{"nsys-version", kAnyLog, "",
                "Exportation error: Version number is invalid: 2025@5@1@...\n"},
        LogCase{"start-through-router", kAnyLog, "",
                "2026-11-21 INFO vllm_router_rs::server: POST /start_profile\n"},
        LogCase{"ray-not-traced", kVllmLog, "0.31.0",
                "(APIServer pid=1) INFO 11-25 02:48:39 [api_utils.py:286] non-default args: "
                "{'distributed_executor_backend': 'ray', 'profiler_config': ProfilerConfig()}\n"},
        LogCase{"proton-not-read", kVllmLog, "0.33.0",
                "(APIServer pid=1) INFO 11-25 02:48:39 [api_utils.py:286] non-default args: "
                "{'profiler_config': ProfilerConfig(profiler='proton', torch_profiler_dir='')}\n"},
        LogCase{"one-rank-profiled", kAnyLog, "",
                "INFO 10-01 10:00:00 llm_engine.py:237] Initializing an LLM engine (v0.6.1) with "
                "config: model='m', pipeline_parallel_size=2, seed=0\n"},
        LogCase{"ends-with-range", kAnyLog, "", "session shutdown at capture range end\n"}));

INSTANTIATE_TEST_SUITE_P(
    NearMisses, LogChecksCases,
    testing::Values(
        // Without a session these lines are about something else.
        LogCase{nullptr, kVllmLog, "0.32.0",
                kCoreFails + "TimeoutError: RPC call to execute_model timed out.\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                kVllmStart + kVllmEnd + kCoreFails +
                    "TimeoutError: RPC call to execute_model timed out.\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                kCoreFails + "RuntimeError: CUDA error: unspecified launch failure\n"},
        LogCase{nullptr, kSglangLog, "0.5.23", "!!!!!!! Segfault encountered !!!!!!!\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                "OSError: [Errno 28] No space left on device: '/dev/shm/x'\n"},
        LogCase{
            nullptr, kVllmLog, "0.32.0",
            "WARNING 11-25 02:48:39 [parallel.py:746] Address already in use. Retrying with a new "
            "port.\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                "NCCL WARN Call to bind failed: Address already in use\n"},
        // Later versions have the profile routes, or another executor for Ray.
        LogCase{nullptr, kVllmLog, "0.25.0",
                "INFO 06-18 10:00:00 [utils.py:372] Launching Rust frontend: vllm-rs serve\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                "(APIServer pid=1) INFO 11-25 02:48:39 [api_utils.py:286] non-default args: "
                "{'distributed_executor_backend': 'ray', 'profiler_config': ProfilerConfig()}\n"},
        // Kineto prints this line whatever the error was.
        LogCase{nullptr, kVllmLog, "0.32.0",
                "INFO:2024-12-19 06:36:11 2047:2047 init.cpp:177] If you see "
                "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, refer to the manual\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                "(Worker pid=7) INFO 11-25 02:48:39 [wrapper.py:286] Profiler schedule configured: "
                "wait=1, warmup=2, active=3\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                "INFO:     127.0.0.1:5 - \"POST /start_profile HTTP/1.1\" 200 OK\n"},
        LogCase{nullptr, kSglangLog, "0.5.23",
                "FileNotFoundError: [Errno 2] No such file or directory: '/models/x'\n"},
        LogCase{
            nullptr, kSglangLog, "0.5.23",
            "Traceback (most recent call last):\n  File \"/x/model_loader.py\", line 3, in load\n"
            "FileNotFoundError: [Errno 2] No such file or directory: '/models/x'\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                kCoreFails + "ValueError: invalid literal for int() with base 10: 'x'\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                "INFO 11-25 02:48:39 [multiproc_executor.py:316] Worker proc VllmWorker-0 died "
                "unexpectedly (exit code: 1), shutting down executor.\n"},
        LogCase{nullptr, kAnyLog, "",
                "Generating '/tmp/nsys-report-9702.qdstrm'\n[1/1] [====100%] x.nsys-rep\n"},
        LogCase{nullptr, kAnyLog, "",
                "INFO 10-01 10:00:00 llm_engine.py:237] Initializing an LLM engine (v0.6.1) with "
                "config: model='m', pipeline_parallel_size=1, seed=0\n"},
        // A traceback's frame, not a hung thread's.
        LogCase{nullptr, kSglangLog, "0.5.6",
                kSglangStart + "  File \"/x/torch/autograd/profiler.py\", line 370, in __exit__\n"},
        // A prompt says nothing about an engine.
        LogCase{nullptr, kVllmLog, "0.32.0",
                "INFO 11-25 02:48:39 [request_logger.py:65] Received request a: prompt: 'Failed to "
                "stop profiler: No space left on device. Python replay stack is empty'\n"},
        LogCase{nullptr, kVllmLog, "0.32.0",
                "INFO 11-25 02:48:39 [request_logger.py:95] Generated response a: output: 'Python "
                "replay stack is empty', output_token_ids: None, finish_reason: stop\n"},
        LogCase{nullptr, kSglangLog, "0.5.23",
                "[2026-11-25 02:50:12] Finish: obj=GenerateReqInput(), out={'text': 'Python replay "
                "stack is empty'}\n"},
        LogCase{nullptr, kSglangLog, "0.5.23",
                "[2026-11-25 02:50:12] Receive: obj=GenerateReqInput(text='Python replay stack is "
                "empty')\n"}));

TEST(LogChecks, TheRemedyIsThatOfTheVersion) {
  const std::string line = kWorkerWarns + "Failed to stop profiler: Can't create directory: /t\n";
  const auto remedy = [&](const char* version) {
    return CheckLog(kVllmLog, version, line).front().remedy;
  };
  EXPECT_THAT(remedy("0.12.0"), HasSubstr("VLLM_TORCH_PROFILER_DIR="));
  EXPECT_THAT(remedy("0.32.0"), HasSubstr("--profiler-config"));
  EXPECT_EQ(remedy(""), remedy("0.32.0"));
  // The version in the log counts, wherever the log names it.
  const std::string says =
      "(EngineCore pid=1) INFO 11-25 02:48:19 [core.py:133] Initializing a V1 LLM engine (v0.12.0) "
      "with config: model='m'\n";
  EXPECT_EQ(CheckLog(kAnyLog, "", says + line).front().remedy, remedy("0.12.0"));
}

TEST(LogChecks, EvidenceNamesLineProcessAndWords) {
  const auto findings =
      CheckLog(kVllmLog, "0.32.0",
               "hello\n" + kWorkerWarns + "Failed to stop profiler: Can't create directory: /t\n" +
                   kWorkerWarns + "Failed to stop profiler: Can't create directory: /t\n");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].evidence,
            "vLLM could not make its trace folder; the stop says 200 all the same (line 2 of the "
            "log, Worker pid=7: Failed to stop profiler: Can't create directory: /t)");
}

TEST(LogChecks, EvidenceIsBoundedAndShowable) {
  const auto findings = CheckLog(
      kVllmLog, "",
      kWorkerWarns + "Failed to start profiler: \x1b[31m\x07\xff" + std::string(100'000, 'x'));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_LT(findings[0].evidence.size(), 500);
  EXPECT_THAT(findings[0].evidence, Not(HasSubstr("\x07")));
}

TEST(LogChecks, AStartUpErrorOfSeveralLines) {
  const std::string head =
      "api_server.py: error: argument --profiler-config: 1 validation error for ProfilerConfig\n";
  const auto of = [&](const std::string& rest) {
    return CheckLog(kVllmLog, "0.32.0", head + rest);
  };
  const auto unknown =
      of("max_iteration\n  Unexpected keyword argument [type=unexpected_keyword_argument, "
         "input_value=1]\n");
  ASSERT_EQ(unknown.size(), 1);
  EXPECT_EQ(unknown[0].id, FindingId::kConfigKeyUnknown);
  EXPECT_THAT(unknown[0].remedy, HasSubstr("max_iterations"));
  const auto value = of("max_iterations\n  Input should be a valid integer [type=int_type]\n");
  ASSERT_EQ(value.size(), 1);
  EXPECT_EQ(value[0].id, FindingId::kConfigUnreadable);
  EXPECT_THAT(value[0].evidence, HasSubstr("max_iterations: Input should be"));
  const auto both =
      of("  Value error, torch_profiler_dir is only applicable when profiler is set\n");
  ASSERT_EQ(both.size(), 1);
  EXPECT_EQ(both[0].id, FindingId::kConfigContradicts);
  EXPECT_THAT(LogIds(kVllmLog, "", "1 validation error for ModelConfig\nx\n  Unexpected\n"),
              IsEmpty());
}

TEST(LogChecks, ASecondProfilerOfTheGpu) {
  // pytorch #112389
  EXPECT_THAT(
      LogIds(
          kVllmLog, "",
          "WARNING:2023-10-30 20:57:45 14:14 init.cpp:155] function cbapi->getCuptiStatus() failed "
          "with error CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)\nWARNING:2023-10-30 "
          "20:57:45 14:14 init.cpp:156] CUPTI initialization failed - CUDA profiler activities "
          "will be missing\n"),
      ElementsAre("two-profilers", "gpu-tracing-off"));
}

TEST(LogChecks, FullGpuMemoryIsNamedWithoutASessionToo) {
  const auto found = CheckLog(kAnyLog, "",
                              "(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] "
                              "torch.OutOfMemoryError: CUDA out of memory.\n");
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, FindingId::kGpuMemoryFull);
  for (const char* const option :
       {"--gpu-memory-utilization", "--max-model-len", "--mem-fraction-static", "--context-length"})
    EXPECT_THAT(found[0].remedy, HasSubstr(option));
}

TEST(LogChecks, OfAnEndItsOwnLineCounts) {
  const std::string full = "torch.OutOfMemoryError: CUDA out of memory.\n";
  const std::string core = "(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] ";
  const std::string log =
      core + full + "INFO 11-24 16:03:00 [a.py:1] x\n" +
      "INFO:     127.0.0.1:5 - \"POST /v1/completions HTTP/1.1\" 200 OK\n" +
      "(EngineCore pid=7) ERROR 11-24 16:05:00 [core.py:9] " + full +
      "(APIServer pid=1) ERROR 11-24 16:05:00 [a.py:1] EngineDeadError: it died\n";
  EXPECT_THAT(CheckLog(kAnyLog, "", log).at(0).evidence, HasSubstr("line 4 of"));
}

TEST(LogChecks, ALogThatIsNoEnginesIsKnownAsSuch) {
  const auto origin = [](std::string_view log) { return ReadLog(kAnyLog, "", log); };
  EXPECT_FALSE(origin("").is_known);
  for (const char* const other :
       {"nothing here\nINFO a line\n", "(a) hello\nthis router is nice\n", "(the pid=x) a\n",
        "vLLM writes .qdstrm under nsys; see vllm_router\n", "smg: a name\n", "see asmg::b\n",
        "smgr::Open: x\n", "main.c: error: argument x\n",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: x\n",
        "10.0.0.1 - - [25/Nov/2026:02:50:12 +0000] \"GET / HTTP/1.1\" 200 5 \"-\"\n"})
    EXPECT_FALSE(origin(other).is_known) << other;
  for (const char* const line :
       {"(APIServer pid=7) INFO 11-21 11:49:36 [launcher.py:1] Starting vLLM server\n",
        "[2026-11-25 02:50:12 TP0] Load weight begin.\n",
        "INFO:     127.0.0.1:1 - \"GET /health HTTP/1.1\" 200 OK\n",
        "2026-11-24T16:02:39Z INFO vllm_router: ready\n", "sglang_router_rs::server: ready\n",
        "2026-01-03 17:31:23  INFO sgl_model_gateway::policies::registry: src/a.rs:80: x\n",
        "[smg] 2026-01-03 17:31:23  INFO smg::worker::manager: ready\n",
        "2026-01-03 17:31:23  INFO smg_mesh::node: ready\n",
        "(SGLangEngine pid=7, ip=10.0.0.1) hello\n", "vllm serve: error: bad\n",
        "  File \"/env/site-packages/sglang/a.py\", line 1\n",
        "Generating '/tmp/nsys-report.qdstrm'\n"})
    EXPECT_TRUE(origin(line).is_known) << line;
  EXPECT_EQ(origin("(APIServer pid=7) x\n").engine, EngineKind::kVllm);
}

TEST(LogChecks, AStopOfAProfilerThatDoesNotRun) {
  for (const std::string& before :
       {kCoreFails + "RuntimeError: ", kWorkerWarns + "Failed to stop profiler: "})
    EXPECT_THAT(LogIds(kVllmLog, "0.10.1",
                       before + "Can't disable Kineto profiler when it's not running\n"),
                ElementsAre("stop-without-session"));
}

TEST(LogChecks, OfAChainOfExceptionsTheLastIsACauseToo) {
  const std::string head = "(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] ";
  const std::string traceback = head + "Traceback (most recent call last):\n" + head;
  const std::string log = traceback + "ConnectionError: refused\n" + head +
                          "The above exception was the direct cause of the following exception:\n" +
                          traceback +
                          "huggingface_hub.errors.LocalEntryNotFoundError: not on disk\n" + head +
                          "EngineCore failed to start. It died unexpectedly\n";
  const auto found = CheckLog(kAnyLog, "", log);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, FindingId::kEngineDied);
  EXPECT_THAT(found[0].remedy, HasSubstr("HF_HUB_OFFLINE"));
}

TEST(LogChecks, RealLogs) {
  EXPECT_THAT(LogIds(kAnyLog, "", EngineLogNamed("vllm-0.32-unknown-key.log")),
              ElementsAre("config-key-unknown"));
  EXPECT_THAT(LogIds(kAnyLog, "", EngineLogNamed("vllm-0.32-variable-not-parsed.log")),
              ElementsAre("variable-not-read", "timeout-not-read", "variable-not-parsed"));
  EXPECT_THAT(LogIds(kAnyLog, "", EngineLogNamed("vllm-0.32-trace-folder-bad.log")),
              ElementsAre("front-end-thread", "trace-folder-bad", "start-refused"));
  EXPECT_THAT(
      LogIds(kAnyLog, "", EngineLogNamed("sglang-0.5.23-sessions.log")),
      ElementsAre("stop-without-session", "session-lost", "merge-failed", "trace-folder-bad"));
  EXPECT_THAT(LogIds(kAnyLog, "", EngineLogNamed("sglang-0.5.23-profiler-v2.log")),
              ElementsAre("profiler-v2"));
}

TEST(LogChecks, AHealthyEngineHasNone) {
  for (const char* name : {"vllm-0.32-healthy.log", "sglang-0.5.23-healthy.log"})
    EXPECT_THAT(LogIds(kAnyLog, "", EngineLogNamed(name)), IsEmpty()) << name;
}

}  // namespace
}  // namespace tacho
