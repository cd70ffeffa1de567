#include "control/log/engine_failure.h"

#include <gtest/gtest.h>

#include "control/log/log_checks.h"

namespace tacho {
namespace {

std::optional<EngineFailure> FirstFailure(std::string_view log) {
  return ReadLog(EngineKind::kUnknown, "", log).failures.first;
}

// Beginnings and ends of logs of vLLM 0.32 and SGLang 0.5.23, frames cut.
constexpr std::string_view kWorkerFails =
    "(APIServer pid=1) WARNING 11-24 16:02:18 [system_utils.py:255] Found ulimit of 20000: errors "
    "like `OSError: [Errno 24] Too many open files`\n"
    "(VllmWorker-0 pid=34) ERROR 11-24 16:02:39 [multiproc_executor.py:953] WorkerProc failed to "
    "start.\n"
    "(VllmWorker-0 pid=34) ERROR 11-24 16:02:39 [multiproc_executor.py:953] Traceback (most recent "
    "call last):\n"
    "(VllmWorker-0 pid=34) ERROR 11-24 16:02:39 [multiproc_executor.py:953]   File \"w.py\", line "
    "920, in worker_main\n"
    "(EngineCore pid=12) INFO 11-24 16:02:39 [multiproc_executor.py:479] [shutdown] Executor: "
    "waiting for worker exit count=1\n"
    "(VllmWorker-0 pid=34) ERROR 11-24 16:02:39 [multiproc_executor.py:953] ValueError: "
    "Unsupported profiler type for cpu: cuda. Supported profiler types: torch.\n"
    "(EngineCore pid=12) ERROR 11-24 16:02:41 [core.py:1510] EngineCore failed to start.\n"
    "(EngineCore pid=12) ERROR 11-24 16:02:41 [core.py:1510] Traceback (most recent call last):\n"
    "(EngineCore pid=12) ERROR 11-24 16:02:41 [core.py:1510] Exception: WorkerProc initialization "
    "failed due to an exception in a background process.\n"
    "Traceback (most recent call last):\n"
    "  File \"<frozen runpy>\", line 198, in _run_module_as_main\n"
    "RuntimeError: Engine core initialization failed. See root cause above.\n";

TEST(FirstFailure, IsTheWorkersAndNotTheFrontEnds) {
  const auto failure = FirstFailure(kWorkerFails);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->process, "VllmWorker-0 pid=34");
  EXPECT_EQ(failure->line, 6);
  EXPECT_EQ(failure->text,
            "ValueError: Unsupported profiler type for cpu: cuda. Supported profiler types: "
            "torch.");
}

TEST(FirstFailure, IsAnArgumentThatTheParserRefuses) {
  const auto failure = FirstFailure(
      "                     [--shutdown-timeout SHUTDOWN_TIMEOUT]\n"
      "api_server.py: error: argument --profiler-config: 1 validation error for ProfilerConfig\n"
      "nosuch\n"
      "  Unexpected keyword argument [type=unexpected_keyword_argument, input_value=1]\n"
      "    For further information visit https://errors.pydantic.dev/2.14\n"
      "more\n");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->line, 2);
  EXPECT_EQ(failure->text,
            "error: argument --profiler-config: 1 validation error for ProfilerConfig\nnosuch\n  "
            "Unexpected keyword argument [type=unexpected_keyword_argument, input_value=1]\n    "
            "For further information visit https://errors.pydantic.dev/2.14");
}

TEST(FirstFailure, IsTheSchedulersOfSglang) {
  const auto failure = FirstFailure(
      "[2026-11-24 16:03:22] Ignore import error when loading sglang.srt.models.grok: no "
      "attribute\n"
      "[2026-11-24 16:03:22 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
      "  File \"scheduler.py\", line 6362, in run_scheduler_process\n"
      "    assert x > 0, \"max_running_request is zero\"\n"
      "           ^^^^^\n"
      "AssertionError: max_running_request is zero\n"
      "\n"
      "[2026-11-24 16:03:22] Received sigquit from a child process.\n");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "AssertionError: max_running_request is zero");
  EXPECT_EQ(failure->line, 6);
}

TEST(FirstFailure, IsARoutersPanicInColours) {
  const auto failure = FirstFailure("\x1b[31mthread 'main' panicked at src/server.rs:7:\x1b[0m\n");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "thread 'main' panicked at src/server.rs:7:");
}

TEST(FirstFailure, IsAnErrorLineWithoutTraceback) {
  const auto failure = FirstFailure(
      "(APIServer pid=1) ERROR 11-24 16:02:39 [a.py:1] no such model\n"
      "(APIServer pid=1) INFO 11-24 16:02:39 [a.py:1] bye\n");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "no such model");
}

TEST(FirstFailure, IsNotInAHealthyLog) {
  EXPECT_FALSE(FirstFailure(""));
  EXPECT_FALSE(
      FirstFailure("(APIServer pid=1) INFO 11-24 16:02:39 [a.py:1] Application startup complete.\n"
                   "INFO:     127.0.0.1 - \"GET /health: error: HTTP/1.1\" 200 OK\n"));
}

TEST(FirstFailure, IsNotOfRequestsInFlightAtTheEnd) {
  const std::string ended =
      "(APIServer pid=1) INFO 11-26 09:24:48 [launcher.py:254] [shutdown] API server: shutdown "
      "triggered\n"
      "(APIServer pid=1) ERROR 11-26 09:24:48 [async_llm.py:906] Traceback (most recent call "
      "last):\n"
      "(APIServer pid=1) ERROR 11-26 09:24:48 [async_llm.py:906] EngineDeadError: EngineCore "
      "encountered an issue.\n";
  EXPECT_FALSE(FirstFailure(ended));
  EXPECT_TRUE(FirstFailure(std::string(kWorkerFails) + ended));
  EXPECT_FALSE(FirstFailure(ended + std::string(kWorkerFails))) << "no start is between";
  EXPECT_TRUE(
      FirstFailure("INFO 11-26 09:24:48 [a.py:1] Received request a: prompt: 'INFO:     "
                   "Shutting down'\n" +
                   std::string(kWorkerFails)));
  EXPECT_TRUE(FirstFailure(
      ended + "(APIServer pid=2) INFO 11-26 09:25:00 [api_utils.py:286] non-default args: {}\n" +
      std::string(kWorkerFails)));
}

TEST(FirstFailure, IsNoTracebackAfterWhichSglangServes) {
  std::string log =
      "[2026-11-25 14:22:11] post-warmup freeze_gc failed\n"
      "Traceback (most recent call last):\n"
      "  File \"connection.py\", line 73, in create_connection\n"
      "ConnectionRefusedError: [Errno 111] Connection refused\n"
      "\n"
      "The above exception was the direct cause of the following exception:\n"
      "Traceback (most recent call last):\n"
      "  File \"connectionpool.py\", line 793, in urlopen\n"
      "urllib3.exceptions.NewConnectionError: Connection refused\n"
      "[2026-11-25 14:22:12] The server is fired up and ready to roll!\n";
  EXPECT_FALSE(FirstFailure(log));
  log +=
      "[2026-11-25 14:22:20] Scheduler hit an exception: Traceback (most recent call last):\n"
      "  File \"weight_updater.py\", line 390, in resume_memory_occupation\n"
      "KeyError: 'kv_cache'\n";
  EXPECT_EQ(FirstFailure(log)->text, "KeyError: 'kv_cache'");
}

TEST(FirstFailure, AHarmlessChainDoesNotTakeInTheNextFailure) {
  const std::string warm_up =
      "[2026-11-25 14:22:11] post-warmup freeze_gc failed\n"
      "Traceback (most recent call last):\nConnectionRefusedError: x\n\n"
      "During handling of the above exception, another exception occurred:\n\n"
      "Traceback (most recent call last):\nOSError: y\n";
  const std::string end =
      "[2026-11-25 14:22:20] Scheduler hit an exception: Traceback (most recent call last):\n"
      "KeyError: 'kv_cache'\n";
  // A server that was started twice: the first had a failure of its own.
  const auto failures = ReadLog(EngineKind::kUnknown, "",
                                "[2026-11-25 14:20:00] ERROR:    Exception in ASGI application\n"
                                "Traceback (most recent call last):\nRuntimeError: early\n"
                                "[2026-11-25 14:22:00] server_args=ServerArgs()\n" +
                                    warm_up + end)
                            .failures;
  EXPECT_EQ(failures.first->text, "RuntimeError: early");
  ASSERT_TRUE(failures.end);
  EXPECT_EQ(failures.end->cause.text, "KeyError: 'kv_cache'");
}

TEST(EndOfEngine, IsTheFirstOfThoseThatDieOneAfterTheOther) {
  const auto end = ReadLog(EngineKind::kUnknown, "", kWorkerFails).failures.end;
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause.line, 6U);
  EXPECT_EQ(end->cause.first_line, 2U);  // the error that announces it
}

TEST(FirstFailure, IsBounded) {
  const auto failure =
      FirstFailure("Traceback (most recent call last):\nValueError: " + std::string(100'000, 'x'));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text.size(), 1000);
}

}  // namespace
}  // namespace tacho
