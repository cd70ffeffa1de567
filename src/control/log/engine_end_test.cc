#include "control/log/engine_failure.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/words.h"
#include "control/log/log_checks.h"

namespace tacho {
namespace {

std::optional<EngineEnd> EndOfEngine(std::string_view log, uint64_t lines_before = 0) {
  return ReadLog(EngineKind::kUnknown, "", log, lines_before).failures.end;
}

constexpr std::string_view kSurvivedByServer =
    "[2026-11-25 02:50:12] ERROR:    Exception in ASGI application\n"
    "Traceback (most recent call last):\n"
    "  File \"h11_impl.py\", line 411, in run_asgi\n"
    "RuntimeError: Profiling is not in progress. Call /start_profile first.\n";
constexpr std::string_view kSchedulerEnds =
    "[2026-11-25 02:50:13] Scheduler hit an exception: Traceback (most recent call last):\n"
    "  File \"pathlib.py\", line 1116, in mkdir\n"
    "FileNotFoundError: [Errno 2] No such file: '/a/b'\n"
    "\n"
    "During handling of the above exception, another exception occurred:\n"
    "\n"
    "Traceback (most recent call last):\n"
    "  File \"pathlib.py\", line 1116, in mkdir\n"
    "FileNotFoundError: [Errno 2] No such file: '/a'\n"
    "\n"
    "[2026-11-25 02:50:13] SIGQUIT received. signum=None, frame=None. It usually means one child "
    "failed.\n";

TEST(EndOfEngine, IsNotWhatItsWebServerSurvived) {
  EXPECT_FALSE(EndOfEngine(kSurvivedByServer));
  const std::string log = std::string(kSurvivedByServer) + std::string(kSchedulerEnds);
  const auto end = EndOfEngine(log);
  ASSERT_TRUE(end);
  // The first of the exceptions that led to one another.
  EXPECT_EQ(end->cause.text, "FileNotFoundError: [Errno 2] No such file: '/a/b'");
  EXPECT_EQ(end->cause.first_line, 5U);
  EXPECT_EQ(end->cause.line, 7U);
  EXPECT_EQ(end->cause.led_line, 13U);
  EXPECT_EQ(end->cause.led_to, "FileNotFoundError: [Errno 2] No such file: '/a'");
  EXPECT_EQ(end->cause.last_line, 13U);
  EXPECT_EQ(ReadLog(EngineKind::kUnknown, "", log).failures.first->line, 4U);
  EXPECT_EQ(EndOfEngine(log, 100)->cause.line, 107U);
}

TEST(EndOfEngine, IsInLinesThatDockerKeptInJson) {
  std::string log;
  for (std::string_view rest = kSchedulerEnds; !rest.empty();)
    log +=
        nlohmann::json{{"log", std::string(TakeLine(rest)) + "\n"}, {"stream", "stderr"}}.dump() +
        "\n";
  const auto end = EndOfEngine(log), plain = EndOfEngine(kSchedulerEnds);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause.text, plain->cause.text);
  EXPECT_EQ(end->cause.line, plain->cause.line);
  EXPECT_EQ(end->last_line, plain->last_line);
  // All lines are in one record, so they have the same number.
  const auto one = EndOfEngine(nlohmann::json{{"log", kSchedulerEnds}}.dump());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->cause.text, plain->cause.text);
  EXPECT_EQ(one->cause.line, 1U);
}

TEST(EndOfEngine, IsInLinesThatRayOrComposeNamed) {
  for (const std::string name : {"(SGLangEngine pid=7) ", "w1  | ", "\x1b[36mw1  |\x1b[0m "}) {
    std::string log;
    std::string_view rest = kSchedulerEnds;
    // A name is not recognized in lines before the first one with a time.
    while (!rest.empty()) log += name + std::string(TakeLine(rest)) + "\n";
    const auto end = EndOfEngine(name + "[2026-11-25 02:50:12] server_args=ServerArgs()\n" + log);
    ASSERT_TRUE(end) << name;
    EXPECT_EQ(end->cause.text, "FileNotFoundError: [Errno 2] No such file: '/a/b'") << name;
    EXPECT_EQ(end->cause.first_line, 2U) << name;
  }
}

TEST(EndOfEngine, IsThatOfTheProcessWhoseLinesOthersInterrupt) {
  const std::string core = "(EngineCore pid=12) ", api = "(APIServer pid=1) ";
  const auto end = EndOfEngine(
      core + "Process EngineCore:\n" + core + "Traceback (most recent call last):\n" + api +
      "INFO 11-25 02:50:13 [a.py:1] waiting\n" + core + "  File \"a.py\", line 1, in f\n" + core +
      "ImportError: libcuda.so.1\nINFO:     127.0.0.1:5 - \"GET /health HTTP/1.1\" 200 OK\n" + api +
      "ERROR 11-25 02:50:14 [a.py:1] Engine core initialization failed.\n");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause.text, "ImportError: libcuda.so.1") << "without uvicorn's line";
  EXPECT_EQ(end->cause.process, "EngineCore pid=12");
  // vLLM 0.8 names a worker's rank before its process.
  const std::string worker = "(VllmWorker rank=1 pid=12) ERROR 04-25 02:41:39 [m.py:435] ";
  const std::string front = "ERROR 04-25 02:41:40 [core.py:396] ";
  EXPECT_EQ(
      EndOfEngine(worker + "Traceback (most recent call last):\n" + worker +
                  "KeyError: 'layers.3.weight'\n" + front + "Traceback (most recent call last):\n" +
                  front + "RuntimeError: Engine core initialization failed\n")
          ->cause.process,
      "VllmWorker rank=1 pid=12");
}

TEST(EndOfEngine, IsTheFirstOfExceptionsThatLedToOneAnother) {
  const std::string core = "(EngineCore pid=10) ERROR 11-26 12:20:36 [core.py:1] ";
  const std::string head = core + "Traceback (most recent call last):\n" + core;
  for (const std::string link :
       {"During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:"}) {
    const std::string next = core + "\n" + core + link + "\n" + core + "\n" + head;
    const auto end =
        EndOfEngine(head + "KeyError: 'model.layers.0'\n" + next + "OSError: no such file\n" +
                    next + "ValueError: no weights: pass --load-format dummy\n" + core +
                    "EngineCore died unexpectedly\n");
    ASSERT_TRUE(end);
    EXPECT_EQ(end->cause.line, 2U);
    EXPECT_EQ(end->cause.text, "KeyError: 'model.layers.0'");
    EXPECT_EQ(end->cause.led_line, 12U);
    EXPECT_EQ(end->cause.led_to,
              "ValueError: no weights: pass --load-format dummy\nEngineCore died unexpectedly");
    EXPECT_EQ(end->cause.first_line, 1U);
    EXPECT_EQ(end->last_line, 13U);
  }
}

TEST(EndOfEngine, IsFullMemoryAtTheEndOfAChainToo) {
  const std::string head = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n";
  EXPECT_EQ(
      EndOfEngine("[2026-11-25 02:50:13] x\n" + head +
                  "KeyError: 1\n\nDuring handling of "
                  "the above exception, another exception occurred:\n\n" +
                  head + "torch.OutOfMemoryError: CUDA out of memory\n[2026-11-25 02:50:14] y\n")
          ->cause.text,
      "KeyError: 1");
}

constexpr std::string_view kStarts =
    "(APIServer pid=2) INFO 11-25 02:49:08 [a.py:1] non-default args: {}\n";
constexpr std::string_view kReady = "INFO:     Application startup complete.\n";

TEST(EndOfEngine, IsNotThatOfAnEarlierStart) {
  const std::string died = std::string(kStarts) +
                           "(EngineCore pid=2) ERROR 11-25 02:49:26 [core.py:1] EngineCore "
                           "encountered a fatal error.\n";
  EXPECT_TRUE(EndOfEngine(died));
  const std::string again = died + std::string(kStarts) + std::string(kReady);
  EXPECT_FALSE(EndOfEngine(again));
  EXPECT_EQ(ReadLog(EngineKind::kUnknown, "", again).failures.ready, 4U);
  EXPECT_EQ(EndOfEngine(again + died)->cause.line, 6U);
  // With data parallelism one engine of a server starts after another failed.
  const std::string begins =
      " INFO 11-25 02:49:08 [core.py:133] Initializing a V1 LLM engine (v0.32.0)\n";
  const std::string dp0 = "(EngineCore_DP0 pid=3)", dp2 = "(EngineCore_DP2 pid=5)";
  EXPECT_EQ(
      EndOfEngine(std::string(kStarts) + dp0 + begins + dp0 +
                  " ERROR 11-25 02:49:26 [core.py:1] Traceback (most recent call last):\n" + dp0 +
                  " ERROR 11-25 02:49:26 [core.py:1] RuntimeError: uncorrectable ECC error\n" +
                  dp2 + begins + "RuntimeError: Engine core initialization failed\n")
          ->cause.process,
      "EngineCore_DP0 pid=3");
  // In a log of several engines, the start of one does not count for another.
  EXPECT_TRUE(EndOfEngine(
      "w0 | [2026-11-25 02:50:13] SIGQUIT received. It usually means one child failed.\n"
      "w1 | [2026-11-25 02:50:14] The server is fired up and ready to roll!\n"));
}

TEST(EndOfEngine, IsThatOfAStartAfterAServerThatWasToldToEnd) {
  const std::string stopped = std::string(kReady) +
                              "\x1b[32mINFO\x1b[0m:     Shutting down\n"
                              "vllm.exceptions.EngineDeadError: in flight\n";
  const std::string ended = stopped + "INFO:     Application shutdown complete.\n";
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in b\nImportError: libcuda\n";
  EXPECT_FALSE(EndOfEngine(ended));
  EXPECT_FALSE(EndOfEngine(stopped + traceback));
  EXPECT_EQ(EndOfEngine(ended + traceback)->cause.line, 7U);
  EXPECT_FALSE(EndOfEngine(ended + "Exception ignored in: <function>\n" + traceback));
  EXPECT_FALSE(EndOfEngine(ended +
                           "Traceback (most recent call last):\n  File "
                           "\"/x/resource_tracker.py\", line 239, in main\nKeyError: '/psm_1'\n"));
  EXPECT_EQ(EndOfEngine(ended + "vllm serve: error: unrecognized arguments: --foo\n")->cause.text,
            "error: unrecognized arguments: --foo");
}

TEST(EndOfEngine, IsNoSignalAndNoThreadsException) {
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in b\n";
  EXPECT_TRUE(EndOfEngine(traceback + "OSError: x\n"));
  EXPECT_FALSE(EndOfEngine(traceback + "KeyboardInterrupt: terminated\n"));
  EXPECT_FALSE(EndOfEngine("Exception in thread Thread-5 (f):\n" + traceback + "OSError: x\n"));
  EXPECT_FALSE(
      EndOfEngine("Exception in callback f()\nhandle: <Handle>\n" + traceback + "OSError: x\n"));
  EXPECT_FALSE(EndOfEngine("Task exception was never retrieved\nfuture: <Task finished>\n" +
                           traceback + "OSError: x\n"));
  EXPECT_FALSE(EndOfEngine("--- Logging error ---\n" + traceback + "OSError: x\n"));
  EXPECT_FALSE(EndOfEngine("Exception ignored in: <function x>\n" + traceback + "OSError: x\n"));
  EXPECT_FALSE(EndOfEngine(traceback + "OSError: x\nINFO:     127.0.0.1:5 - \"GET /metrics "
                                       "HTTP/1.1\" 200 OK\n"))
      << "it answers";
}

TEST(EndOfEngine, IsNoOtherProgramsErrorAndNoWarning) {
  for (const char* const line :
       {"kernel.cu(12): error: identifier \"foo\" is undefined\n",
        "main.c:3:5: error: expected identifier\n",
        "thread 'tokio-runtime-worker' panicked at src/a.rs:1\n",
        "WARNING 11-25 02:48:39 [a.py:1] NCCL non-fatal error ignored\n",
        "WARNING 11-25 02:48:39 [a.py:1] RuntimeError: Executor failed once, retrying\n"})
    EXPECT_FALSE(EndOfEngine(std::string(kReady) + line)) << line;
  // A warning about memory does not turn an earlier error into an end.
  EXPECT_FALSE(
      EndOfEngine("ERROR 11-25 02:48:39 [a.py:1] a request failed\n"
                  "WARNING 11-25 02:48:39 [a.py:1] If you run out of memory, lower x.\n"));
}

TEST(EndOfEngine, IsNotWhatCameBeforeItServedAgain) {
  const std::string failed =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in b\nValueError: early\n";
  const std::string served = "INFO:     127.0.0.1:5 - \"POST /generate HTTP/1.1\" 200 OK\n";
  const std::string health = "INFO:     127.0.0.1:5 - \"GET /health HTTP/1.1\" 200 OK\n";
  const std::string ends = "Worker proc VllmWorker-0 died unexpectedly (exit code: -11)\n";
  EXPECT_EQ(EndOfEngine(failed + ends)->cause.line, 3U);
  EXPECT_EQ(EndOfEngine(failed + health + ends)->cause.line, 3U);
  EXPECT_EQ(EndOfEngine(failed + served + ends)->cause.line, 5U);
  // Other processes may serve a last request, or the engine is started again.
  EXPECT_EQ(EndOfEngine(failed + ends + served)->cause.line, 3U);
  const std::string full =
      "Traceback (most recent call last):\ntorch.OutOfMemoryError: CUDA out of memory\n";
  EXPECT_EQ(EndOfEngine(full)->cause.line, 2U);
  EXPECT_FALSE(EndOfEngine(full + served));
  EXPECT_EQ(EndOfEngine(full + ends + served)->cause.line, 2U);
}

TEST(EndOfEngine, IsNotHiddenByAnswersOfTheSameSecond) {
  const auto core = [](const char* time, const std::string& text) {
    return "(EngineCore pid=3) ERROR 11-25 " + std::string(time) + " [core.py:640] " + text + "\n";
  };
  const auto fails = [&](const char* time, const std::string& text) {
    return core(time, "Traceback (most recent call last):") + core(time, text);
  };
  const std::string served = "INFO:     127.0.0.1:5 - \"POST /v1/completions HTTP/1.1\" 200 OK\n";
  const std::string full = fails("02:48:45", "torch.OutOfMemoryError: CUDA out of memory");
  const std::string end = core("02:48:46", "EngineCore encountered a fatal error.") +
                          fails("02:48:46", "concurrent.futures.CancelledError");
  EXPECT_EQ(EndOfEngine(full + served + end)->cause.line, 2U);
  EXPECT_EQ(EndOfEngine(full + "[2026-11-25 02:48:59] x\n" + served + end)->cause.line, 7U);
}

TEST(EndOfEngine, IsNotOfAFrontEndThatGoesOnServing) {
  const std::string served = "INFO:     127.0.0.1:5 - \"POST /v1/completions HTTP/1.1\" 200 OK\n";
  const std::string api = "(APIServer pid=1) ERROR 11-25 02:48:45 [serving.py:1] ";
  const std::string full = "torch.OutOfMemoryError: CUDA out of memory\n";
  EXPECT_FALSE(EndOfEngine(api + full + served));
  std::string answers;
  for (int i = 0; i < 30; ++i) answers += served;
  const std::string core = "(EngineCore pid=3) ERROR 11-25 02:48:45 [core.py:640] ";
  EXPECT_TRUE(EndOfEngine(core + full + served));
  EXPECT_FALSE(EndOfEngine(core + full + answers));
}

TEST(EndOfEngine, IsNoOtherProgramsOnceItServes) {
  const std::string answer =
      "[2026-11-25 02:51:03] INFO:     127.0.0.1:5 - \"POST /generate "
      "HTTP/1.1\" 200 OK\nDone.\n";
  const auto traceback = [](std::initializer_list<const char*> files) {
    std::string text = "Traceback (most recent call last):\n";
    for (const char* const file : files)
      text += "  File \"" + std::string(file) + "\", line 87, in <module>\n    f()\n";
    return text + "AssertionError: 96.7 not greater than 108.9\n";
  };
  const char* const packages = "/usr/lib/python3.11/site-packages";
  const std::string retry = std::string(packages) + "/sglang/srt/utils/common.py",
                    test = std::string(packages) + "/sglang/test/test_utils.py",
                    bench = std::string(packages) + "/vllm/benchmarks/serve.py",
                    launch = std::string(packages) + "/sglang/launch_server.py";
  for (const std::string& client :
       {traceback({"/app/bench/check.py", "/usr/lib/python3.11/unittest/case.py"}),
        traceback({"load.py", retry.c_str()}), traceback({"/usr/lib/python3.11/runpy.py", "c.py"}),
        traceback({test.c_str(), retry.c_str()}), traceback({"/x/bin/vllm", bench.c_str()})}) {
    EXPECT_FALSE(EndOfEngine(answer + client)) << client;
    EXPECT_EQ(ReadLog(EngineKind::kUnknown, "", answer + client).failures.first->line,
              ReadLog(EngineKind::kUnknown, "", client).failures.first->line + 2);
    EXPECT_FALSE(EndOfEngine(answer + client +
                             "\nDuring handling of the above exception, another exception "
                             "occurred:\n\n" +
                             client));
    EXPECT_TRUE(EndOfEngine(client)) << "nothing served before it";
    // The client's failure is not why the engine dies later.
    EXPECT_EQ(
        EndOfEngine(answer + client + "Worker proc VllmWorker-0 died unexpectedly\n")->cause.text,
        "Worker proc VllmWorker-0 died unexpectedly");
  }
  EXPECT_TRUE(EndOfEngine(answer + traceback({"<frozen runpy>", launch.c_str()})));
  EXPECT_TRUE(EndOfEngine(answer + traceback({"/x/bin/vllm", retry.c_str()})));
  EXPECT_TRUE(
      EndOfEngine("INFO:     127.0.0.1:5 - \"POST /generate HTTP/1.1\" 200 OK\n"
                  "(APIServer pid=1) Traceback (most recent call last):\n"
                  "(APIServer pid=1)   File \"a.py\", line 1, in <module>\n"
                  "(APIServer pid=1) OSError: x\n"))
      << "its process is named";
}

TEST(EndOfEngine, IsNoPartOfAHealthyLog) {
  for (const char* const name : {"sglang-0.5.23-healthy", "vllm-0.32-healthy"}) {
    std::ifstream file(std::string(TACHO_SOURCE_DIR "/tests/data/engine-logs/") + name + ".log");
    std::string log, line;
    for (int number = 1; std::getline(file, line); ++number) {
      log += line + "\n";
      EXPECT_FALSE(EndOfEngine(log)) << name << " ends in line " << number;
    }
    EXPECT_FALSE(log.empty());
  }
}

TEST(EndOfEngine, IsACrashWithItsOwnWords) {
  const std::string died =
      "(APIServer pid=1) ERROR 11-25 02:48:45 [a.py:1] Engine core proc EngineCore_DP0 died "
      "unexpectedly, shutting down client.\n";
  const std::string other = "(APIServer pid=1) ERROR 11-25 02:48:44 [a.py:1] a request failed\n";
  EXPECT_EQ(EndOfEngine(other + "!!!!!!! Segfault encountered !!!!!!!\n" + died)->cause.line, 2U);
  EXPECT_EQ(
      EndOfEngine("terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA "
                  "error: an illegal memory access was encountered\n" +
                  died)
          ->cause.text,
      "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: an "
      "illegal memory access was encountered");
  EXPECT_EQ(
      EndOfEngine("[2026-11-25 02:50:13] Rank 0 scheduler is dead.\n[2026-11-25 02:50:13] Exit "
                  "code: -9\nTraceback (most recent call last):\n  File \"a.py\", line 1, in "
                  "<module>\nEOFError\n")
          ->cause.line,
      1U);
  EXPECT_EQ(EndOfEngine("Fatal Python error: Aborted\n\n" + other + died)->cause.line, 1U);
}

TEST(EndOfEngine, IsInTheWordsOfOtherVersions) {
  for (const char* const line :
       {"ERROR 11-25 02:48:45 [a.py:1] MQLLMEngine is already dead, terminating server process\n",
        "CRITICAL 04-16 20:24:47 [a.py:1] Got fatal signal from worker processes, shutting down.\n",
        "ERROR 11-25 02:48:45 m.py:97] Worker VllmWorkerProcess pid 1159 died, exit code: -6\n",
        "RuntimeError: Engine process failed to start. See stack trace for the root cause.\n",
        "[2026-11-25 02:50:13] Watchdog timeout (self.watchdog_timeout=300)\n",
        "[2026-11-25 02:50:13 TP0] Scheduler watchdog timeout (self.watchdog_timeout=300, "
        "self.soft=False)\n",
        "[2026-11-25 02:50:13] Rank 0 scheduler is dead. Please check if there are relevant "
        "logs.\n",
        "Aug 19 18:34:30 gpu systemd[1]: vllm.service: Main process exited, code=exited, "
        "status=1/FAILURE\n"})
    EXPECT_EQ(EndOfEngine(std::string(kReady) + line)->cause.line, 2U) << line;
  EXPECT_FALSE(
      EndOfEngine("INFO 11-25 02:48:45 m.py:97] x\nERROR Worker pid 1159 died, exit code: -15\n"));
  EXPECT_FALSE(
      EndOfEngine("[2026-11-25 02:50:13 TP0] Detokenizer watchdog timeout "
                  "(self.watchdog_timeout=300, self.soft=True)\n"));
  EXPECT_FALSE(EndOfEngine("Generated text: ' The EngineDeadError is'\n"));
}

TEST(EndOfEngine, IsInTheExceptionOfRaysWorker) {
  EXPECT_EQ(EndOfEngine("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"
                        "ray.exceptions.RayTaskError(KeyError): ray::f() (pid=7, ip=10.0.0.1)\n"
                        "  File \"b.py\", line 2, in g\nKeyError: 'layers.0'\n"
                        "RuntimeError: Engine core initialization failed\n")
                ->cause.line,
            5U);
}

TEST(EndOfEngine, IsAProcesssOwnTracebackAfterItsMessages) {
  const std::string api = "(APIServer pid=1) ";
  const std::string traceback = "Traceback (most recent call last):\n";
  EXPECT_EQ(EndOfEngine(api + "INFO 11-24 16:00:08 [model.py:547] Resolved architecture\n" + api +
                        traceback + api + "  File \"a.py\", line 1, in f\n" + api +
                        "pydantic_core.ValidationError: 1 validation error for ModelConfig\n")
                ->cause.line,
            4U);
  const std::string sglang = "[2026-11-25 02:50:01] server_args=ServerArgs()\n";
  EXPECT_EQ(EndOfEngine(sglang + traceback +
                        "  File \"launch_server.py\", line 30, in <module>\nOSError: no folder\n")
                ->cause.line,
            4U);
  EXPECT_FALSE(EndOfEngine(sglang + traceback + "  File \"a.py\", line 30, in f\nOSError: x\n"));
  EXPECT_EQ(
      EndOfEngine("[rank0]: " + traceback + "[rank0]:   File \"a.py\", line 1, in <module>\n" +
                  "[rank0]: ValueError: x\n")
          ->cause.process,
      "rank0");
  // The front end's traceback refers its reader to another process's.
  EXPECT_EQ(EndOfEngine(traceback + "ValueError: bad\n\n" + api + traceback + api +
                        "RuntimeError: it failed. See stack trace above.\n")
                ->cause.text,
            "ValueError: bad");
}

TEST(EndOfEngine, IsPythonsOwnTracebackThatEndsTheLog) {
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in b\n"
      "ImportError: libcuda.so.1: cannot open shared object file\n";
  const std::string warning = "a.py:254: UserWarning: leaked shared_memory objects\n";
  const std::string record = "[2026-11-25 02:51:03] an engine's message\n";
  EXPECT_EQ(EndOfEngine(traceback)->cause.line, 3U);
  EXPECT_EQ(EndOfEngine("Could not import x.\n" + traceback + warning)->cause.line, 4U);
  EXPECT_FALSE(EndOfEngine(traceback + record)) << "something runs on";
  EXPECT_FALSE(EndOfEngine(record + traceback)) << "the message's own";
}

TEST(EndOfEngine, IsTheShellsWordOfIt) {
  const std::string record = "[2026-11-25 02:51:03] an engine's message\n";
  const std::string bash = "run.sh: line 3: 14973 Killed                  python -m sglang\n";
  for (const std::string& killed :
       {bash, std::string("Killed\n"), std::string("Segmentation fault (core dumped)\n"),
        std::string("run.sh: line 3: 12345 Aborted     (core dumped) vllm serve $MODEL\n")}) {
    const auto end = EndOfEngine(std::string(kReady) + record + killed + "done\n");
    ASSERT_TRUE(end) << killed;
    EXPECT_EQ(end->cause.line, 3U);
    EXPECT_EQ(end->cause.text + "\n", killed) << "without what others say";
    EXPECT_TRUE(EndOfEngine("ValueError: a failure\n" + killed));
    EXPECT_TRUE(EndOfEngine("Traceback (most recent call last):\n  File \"a.py\"\n" + killed));
    EXPECT_FALSE(EndOfEngine(killed + record)) << "it was another program";
    EXPECT_FALSE(EndOfEngine(killed + "INFO:     127.0.0.1:5 - \"GET /health HTTP/1.1\" 200 OK\n"));
  }
  for (const char* const other : {"Killed 3 requests\n", "a.py: Killed \n", "  Killed\n",
                                  "Expecting value: line 1 column 1 (char 0): Aborted by x\n"})
    EXPECT_FALSE(EndOfEngine(record + other)) << other;
}

TEST(EndOfEngine, WithoutAWordIsTakenForAKill) {
  const auto ids = [](const std::string& log) {
    std::vector<std::string> found;
    for (const Finding& finding : ReadLog(EngineKind::kUnknown, "", log).findings)
      found.emplace_back(KindOf(finding.id).id);
    return found;
  };
  const std::string core = "(EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:9] ";
  for (const std::string died :
       {"(APIServer pid=1) WARNING 11-24 16:02:39 [core_client.py:817] [shutdown] MPClient: engine "
        "core exited unexpectedly; starting cleanup\n",
        "(APIServer pid=1) ERROR 11-24 16:02:39 [core_client.py:562] Engine core proc "
        "EngineCore_DP0 died unexpectedly, shutting down client.\n"}) {
    EXPECT_THAT(ids(died), testing::ElementsAre("worker-killed"));
    EXPECT_THAT(
        ids(core + "Traceback (most recent call last):\n" + core + "ValueError: bad\n" + died),
        testing::IsEmpty())
        << "it said why";
    EXPECT_THAT(ids("!!!!!!! Segfault encountered !!!!!!!\n" + died), testing::IsEmpty());
  }
  EXPECT_THAT(ids("Killed\n"), testing::ElementsAre("worker-killed"));
  EXPECT_THAT(ids("vllm.service: Main process exited, code=killed, status=9/KILL\n"),
              testing::ElementsAre("worker-killed"));
  EXPECT_THAT(ids(core + "a tool's sandbox: exit code: -9\n"), testing::IsEmpty());
}

TEST(EndOfEngine, IsTheExceptionAfterAnErrorThatAnnouncesIt) {
  const std::string core = "(EngineCore pid=3) ERROR 11-25 02:48:45 [core.py:640] ";
  const std::string fatal = core + "EngineCore encountered a fatal error.\n";
  const std::string traceback = core + "Traceback (most recent call last):\n" + core +
                                "  File \"core.py\", line 1, in step\n" + core +
                                "TimeoutError: RPC call to execute_model timed out.\n";
  EXPECT_EQ(EndOfEngine(fatal + traceback)->cause.line, 4U);
  EXPECT_EQ(EndOfEngine(fatal)->cause.line, 1U);
  const std::string killed =
      "(EngineCore pid=3) ERROR 11-25 02:48:45 [multiproc_executor.py:316] Worker proc "
      "VllmWorker-0 "
      "died unexpectedly (exit code: -9)\n";
  EXPECT_EQ(EndOfEngine(killed + "x\n" + traceback)->cause.line, 1U);
}

TEST(EndOfEngine, IsNotInARequestOrAdviceAboutMemory) {
  for (const char* const prompt :
       {"sigquit", "why does gcc say main.c:3:5: error: expected?", "vllm: error: argument a",
        "thread 'main' panicked at a.rs", "died unexpectedly"})
    for (const char* const head : {"INFO 11-25 02:48:39 [a.py:1] Received request a: prompt: '",
                                   "DEBUG 11-25 02:48:39 [a.py:1] Request a details: prompt: '",
                                   "[2026-11-25 02:50:13] Receive: obj=GenerateReqInput(text='"})
      EXPECT_FALSE(EndOfEngine(std::string(head) + prompt + "'\n")) << head << prompt;
  EXPECT_FALSE(EndOfEngine("INFO 11-25 02:48:39 [a.py:1] Lower it if you run out of memory.\n"));
}

}  // namespace
}  // namespace tacho
