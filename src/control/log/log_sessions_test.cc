#include "control/log/log_sessions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "control/log/log_checks.h"

namespace tacho {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kCoreSays = "(EngineCore pid=3) ERROR 11-25 02:48:45 [core.py:640] ";
const std::string kWritten =
    "(APIServer pid=1) INFO 11-25 02:48:50 [api_router.py:52] Profiler stopped.\n";
const std::string kProfiled =
    "[2026-11-25 02:50:12] Profiling starts. Traces will be saved to: /t (with profile id: 1)\n";

std::vector<std::string> IdsOf(EngineKind kind, std::string_view version, std::string_view log) {
  std::vector<std::string> ids;
  for (const Finding& finding : ReadLog(kind, version, log).findings)
    ids.emplace_back(KindOf(finding.id).id);
  return ids;
}

TEST(LogSessions, ASecondStartOfSglangLosesTheFirst) {
  const std::string stop = "[2026-11-25 02:50:12] Stop profiling...\n";
  const std::string begun =
      "[2026-11-25 02:50:01] server_args={'host': '::', 'port': 30000, 'a': 1}\n";
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", begun + kProfiled + kProfiled),
              ElementsAre("session-lost"));
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", begun + kProfiled + stop + kProfiled), IsEmpty());
  // Each rank says so.
  const std::string other =
      "[2026-11-25 02:50:12 DP1] Profiling starts. Traces will be saved to: /t (with profile id: "
      "1)\n";
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", begun + kProfiled + other), IsEmpty());
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", begun + kProfiled + begun + kProfiled), IsEmpty());
}

TEST(LogSessions, StartsOfTwoSglangsInOneLogLoseNothing) {
  const auto start = [](const std::string& of) { return of + kProfiled; };
  for (const auto& [one, other] :
       {std::pair{"(SGLangEngine pid=101) ", "(SGLangEngine pid=102) "},
        std::pair{"(SGLangEngine pid=7, ip=10.0.0.1) ", "(SGLangEngine pid=7, ip=10.0.0.2) "},
        std::pair{"w0 | ", "w1 | "}, std::pair{"[w0] ", "[w1] "}, std::pair{"w0: ", "w1: "}}) {
    EXPECT_THAT(IdsOf(EngineKind::kSglang, "", start(one) + start(other)), IsEmpty()) << one;
    EXPECT_THAT(IdsOf(EngineKind::kSglang, "", start(one) + start(other) + start(one)),
                ElementsAre("session-lost"))
        << one;
  }
  // Lines without names do not show which server wrote them, except in the log of one server.
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", start("") + start("")), IsEmpty());
  const auto server = [](int port) {
    return fmt::format("[2026-11-25 02:50:01] server_args=ServerArgs(a=1, port={}, b=2)\n", port);
  };
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", server(1) + server(2) + start("") + start("")),
              IsEmpty());
  // Servers on two machines have the same port, and by default the same host.
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", server(1) + server(1) + start("") + start("")),
              IsEmpty());
  const std::string end = "[2026-11-25 02:50:01] INFO:     Finished server process [7]\n";
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", server(1) + end + server(1) + start("") + start("")),
              ElementsAre("session-lost"));
}

TEST(LogSessions, AProgressBarIsNoEnginesName) {
  const std::string begun = "[2026-11-25 02:50:01] server_args=ServerArgs(port=30000)\n";
  const std::string bar = " 45%|####5     | 9/20 [00:01<00:01,  9.0it/s]";
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", begun + bar + kProfiled + kProfiled),
              ElementsAre("session-lost"));
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", begun + kProfiled + bar + kProfiled),
              ElementsAre("session-lost"));
}

TEST(LogSessions, AStopThatTakesLong) {
  const auto log = [](const char* begin, const char* end) {
    return fmt::format(
        "(APIServer pid=1) INFO 11-25 {} [api_router.py:50] Stopping profiler...\n"
        "(APIServer pid=1) INFO 11-26 {} [api_router.py:52] Profiler stopped.\n",
        begin, end);
  };
  const auto findings = ReadLog(EngineKind::kVllm, "0.32.0", log("23:59:30", "00:01:00")).findings;
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].id, FindingId::kFlushLong);
  EXPECT_THAT(findings[0].evidence, HasSubstr("90 s"));
  EXPECT_THAT(findings[0].remedy, HasSubstr("torch_profiler_with_stack"));
  EXPECT_THAT(
      ReadLog(EngineKind::kVllm, "0.11.0", log("10:00:00", "10:02:00")).findings.at(0).remedy,
      HasSubstr("VLLM_TORCH_PROFILER_WITH_STACK=0"));
  const std::string waits =
      "(EngineCore pid=3) INFO 11-25 10:01:10 [shm_broadcast.py:1] No "
      "available shared memory broadcast block found in 60 seconds.\n";
  std::string both = log("10:00:00", "10:01:14");
  both.insert(both.find('\n') + 1, waits);
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "0.32.0", both), ElementsAre("flush-long"));
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "", log("10:00:00", "10:00:59")), IsEmpty());
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "", log("10:00:00", "09:59:59")),
              IsEmpty());  // a clock set back
}

TEST(LogSessions, ATimeoutOfTheProfileCallIsThatOfTheStartOrTheStop) {
  const std::string api = "(APIServer pid=1) INFO 11-25 02:48:39 [api_router.py:39] ";
  const std::string timeout = kCoreSays + "TimeoutError: RPC call to profile timed out.\n";
  const std::string begins = api + "Starting profiler...\n", began = api + "Profiler started.\n";
  const std::string ends = api + "Stopping profiler...\n";
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "0.10.0", begins + began + ends + timeout),
              ElementsAre("flush-timed-out"));
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "0.10.0", begins + timeout), ElementsAre("did-not-start"));
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "0.10.0", begins + began + timeout), IsEmpty());
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "0.10.0", ends + kWritten + timeout), IsEmpty());
  const auto remedy = [&](const char* version) {
    return ReadLog(EngineKind::kVllm, version, ends + timeout).findings.at(0).remedy;
  };
  EXPECT_THAT(remedy("0.12.0"), HasSubstr("VLLM_TORCH_PROFILER_WITH_STACK=0"));
  EXPECT_THAT(remedy("0.32.0"), HasSubstr("--profiler-config"));
}

TEST(LogSessions, SglangsWatchdogEndsAStop) {
  const std::string stop = "[2026-11-25 02:50:12 TP0] Stop profiling...\n";
  const std::string done = "[2026-11-25 02:55:12 TP0] Profiling done. Traces are saved to: /t\n";
  const auto barks = [](const std::string& name, const std::string& soft) {
    return "[2026-11-25 02:55:13 TP1] " + name + " (self.watchdog_timeout=300" + soft + ")\n";
  };
  for (const auto& line :
       {barks("Watchdog timeout", ""), barks("Scheduler watchdog timeout", ", self.soft=False")}) {
    EXPECT_THAT(IdsOf(EngineKind::kSglang, "", kProfiled + stop + line),
                ElementsAre("flush-timed-out"));
    EXPECT_THAT(IdsOf(EngineKind::kSglang, "", kProfiled + stop + done + line),
                Not(Contains("flush-timed-out")));
    EXPECT_THAT(IdsOf(EngineKind::kSglang, "", line), IsEmpty());
  }
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "",
                    kProfiled + stop + barks("Scheduler watchdog timeout", ", self.soft=True")),
              IsEmpty());
  // One rank wrote, the other did not.
  const std::string other = "[2026-11-25 02:50:12 TP1] Stop profiling...\n";
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", stop + other + done + barks("Watchdog timeout", "")),
              Contains("flush-timed-out"));
}

TEST(LogSessions, AServerThatIsToldToEndWhileItWrites) {
  const std::string stop = "[2026-11-25 02:50:12 TP0] Stop profiling...\n";
  const std::string done = "[2026-11-25 02:50:32 TP0] Profiling done. Traces are saved to: /t\n";
  const std::string told = "[2026-11-25 02:50:22] SIGTERM received. signum=None frame=None.\n";
  const std::string begun = "[2026-11-25 03:00:00] server_args=ServerArgs(port=1)\n";
  const auto cut = ElementsAre("killed-while-writing");
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", stop + told), cut);
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", stop + told + begun + kProfiled + stop + done), cut);
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", stop + told + done), IsEmpty())
      << "it waits for the flush";
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", stop + done + told), IsEmpty());
  EXPECT_THAT(IdsOf(EngineKind::kSglang, "", kProfiled + told), IsEmpty()) << "it did not write";
  EXPECT_THAT(ReadLog(EngineKind::kSglang, "", stop + told).findings.at(0).evidence,
              HasSubstr("line 2 of the log"));
  const std::string api = "(APIServer pid=1) INFO 11-25 02:48:39 [api_router.py:50] ";
  EXPECT_THAT(
      IdsOf(EngineKind::kVllm, "0.32.0", api + "Stopping profiler...\nINFO:     Shutting down\n"),
      cut);
  EXPECT_THAT(
      IdsOf(EngineKind::kVllm, "0.32.0",
            api + "Stopping profiler...\nINFO:     Shutting down\n" + api + "Profiler stopped.\n"),
      IsEmpty());
}

TEST(LogSessions, TwoApiServersOfOneSession) {
  // vllm #39603
  const std::string start =
      "(ApiServer_2 pid=468) INFO 04-12 03:02:55 [api_router.py:23] Starting profiler...\n";
  const std::string other =
      "(ApiServer_4 pid=470) INFO 04-12 03:03:10 [api_router.py:31] Stopping profiler...\n";
  const std::string same =
      "(ApiServer_2 pid=468) INFO 04-12 03:03:10 [api_router.py:31] Stopping profiler...\n";
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "0.19.0", start + other), ElementsAre("several-front-ends"));
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "0.19.0", start + same), IsEmpty());
  EXPECT_THAT(IdsOf(EngineKind::kVllm, "0.32.0", start + other), IsEmpty());
}

}  // namespace
}  // namespace tacho
