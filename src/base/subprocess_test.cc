#include "base/subprocess.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kFarBeyond{60};

SubprocessOptions Shell(const std::string& script) { return {.arguments = {"sh", "-c", script}}; }

std::string ReadAll(Subprocess& process) {
  std::string all;
  std::array<char, 4096> bytes;
  while (const size_t got = process.Read(bytes.data(), bytes.size())) all.append(bytes.data(), got);
  return all;
}

struct Ended {
  std::string output = {}, error = {};
  bool in_time = false;
};

Ended RunToEnd(SubprocessOptions options) {
  const auto begin = steady_clock::now();
  Result<Subprocess> process = Subprocess::Start(std::move(options));
  if (!process) return {"", process.error().message, true};
  Ended ended{.output = ReadAll(*process)};
  const Result<void> finished = process->Finish();
  if (!finished) ended.error = finished.error().message;
  ended.in_time = steady_clock::now() - begin < kFarBeyond;
  return ended;
}

TEST(ForegroundProgram, HasItsEnvironmentAndItsStatusCounts) {
  const auto status = [](const std::string& script, bool end = false) {
    setenv("TACHO_TEST", "old", 1);
    auto program = ForegroundProgram::Start({"sh", "-c", script}, {"TACHO_TEST=new"}).value();
    if (end) program.AskToEnd();
    while (!program.Ended()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return *program.Ended();
  };
  EXPECT_EQ(status("test \"$TACHO_TEST\" = new -a -n \"$PATH\" && exit 7"), 7);
  EXPECT_EQ(status("kill -9 $$"), 128 + SIGKILL);
  EXPECT_EQ(status("sleep 60", true), 128 + SIGTERM);
  EXPECT_EQ(ForegroundProgram::Start({"/no/such/program"}, {}).error().kind, ErrorKind::kUsage);
}

TEST(Subprocess, ReadsAllOutput) {
  const Ended ended = RunToEnd({.arguments = {"printf", "%s", "$(id) 'a' \"b\" *"}});
  EXPECT_EQ(ended.output, "$(id) 'a' \"b\" *") << "no shell reads the arguments";
  EXPECT_EQ(ended.error, "");
  EXPECT_EQ(RunToEnd(Shell("head -c 1000000 /dev/zero")).output.size(), 1'000'000U);
}

TEST(Subprocess, ErrorsNameTheProgram) {
  EXPECT_EQ(RunToEnd({.arguments = {"no-such-program"}}).error,
            "no-such-program could not be started: is it installed?");
  EXPECT_EQ(RunToEnd(Shell("exit 3")).error, "sh: exit status 3");
  EXPECT_EQ(RunToEnd(Shell("echo first >&2; echo last >&2; exit 7")).error,
            "sh: exit status 7: last");
  EXPECT_EQ(RunToEnd(Shell("kill -9 $$")).error, "sh: exit status 137");
  EXPECT_EQ(RunToEnd({.arguments = {"false"}, .name = "ssh host"}).error,
            "ssh host: exit status 1");
}

TEST(Subprocess, ErrorOutputThatNeverEndsIsReadAndBounded) {
  const Ended ended = RunToEnd(Shell("head -c 5000000 /dev/zero >&2; echo out; exit 1"));
  EXPECT_EQ(ended.output, "out\n");
  EXPECT_LT(ended.error.size(), 100'000U);
}

TEST(Subprocess, TheLastLineOfALongErrorOutputIsReported) {
  const Ended ended = RunToEnd(Shell(
      "head -c 300000 /dev/zero | tr '\\0' '\\n' >&2; printf 'the cause\\n\\n  \\n' >&2; exit 3"));
  EXPECT_EQ(ended.error, "sh: exit status 3: the cause");
}

TEST(Subprocess, StartsWithDefaultSignalsInAGroupOfItsOwn) {
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  sigset_t term, mask;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &mask);
  const Ended by_pipe = RunToEnd(Shell("kill -PIPE $$")), by_term = RunToEnd(Shell("kill $$"));
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  std::signal(SIGPIPE, handler);
  EXPECT_EQ(by_pipe.error, "sh: exit status 141");
  EXPECT_EQ(by_term.error, "sh: exit status 143");
  pid_t group = 0, pid = -1;
  std::istringstream(RunToEnd(Shell("cut -d ' ' -f 5 /proc/$$/stat; echo $$")).output) >> group >>
      pid;
  EXPECT_EQ(group, pid);
}

TEST(Subprocess, PatienceAndStopCutTheOutputShort) {
  Ended ended = RunToEnd({.arguments = {"sleep", "300"}, .patience = milliseconds(50)});
  EXPECT_EQ(ended.error, "sleep: did not end in time");
  EXPECT_TRUE(ended.in_time);
  std::stop_source stop;
  stop.request_stop();
  auto process = Subprocess::Start({.arguments = {"sleep", "300"}, .stop = stop.get_token()});
  ASSERT_TRUE(process);
  EXPECT_EQ(ReadAll(*process), "");
  EXPECT_STREQ(process->cut_short(), "interrupted");
  EXPECT_EQ(process->Finish().error().message, "sleep: interrupted");
}

TEST(Subprocess, AProgramThatClosesItsOutputAndStaysIsEnded) {
  SubprocessOptions options = Shell("echo out; exec >&- 2>&-; sleep 300");
  options.grace = milliseconds(50);
  const Ended ended = RunToEnd(std::move(options));
  EXPECT_EQ(ended.output, "out\n");
  EXPECT_EQ(ended.error, "sh: did not end in time");
  EXPECT_TRUE(ended.in_time);
}

TEST(Subprocess, TheWholeGroupEndsEvenIfItIgnoresSigterm) {
  const FolderForTest folder;
  SubprocessOptions options =
      Shell("trap '' TERM; sleep 300 & echo $! > " + folder.At("child") + "; echo up; wait; wait");
  options.grace = milliseconds(50);
  {
    auto process = Subprocess::Start(std::move(options));
    ASSERT_TRUE(process);
    std::array<char, 16> bytes;
    ASSERT_EQ(process->Read(bytes.data(), bytes.size()), 3U);
  }
  pid_t child = 0;
  std::ifstream(folder.At("child")) >> child;
  ASSERT_GT(child, 0);
  // Killed; its new parent may not have waited for it yet.
  const auto until = steady_clock::now() + kFarBeyond;
  const auto gone = [&] {
    std::string stat;
    std::getline(std::ifstream("/proc/" + std::to_string(child) + "/stat"), stat);
    return stat.empty() || stat.find(") Z ") != std::string::npos;
  };
  while (!gone() && steady_clock::now() < until) usleep(1'000);
  EXPECT_TRUE(gone());
}

TEST(Subprocess, ADescendantThatKeepsTheStandardErrorIsNotWaitedFor) {
  const FolderForTest folder;
  for (const int status : {0, 7}) {
    const Ended ended = RunToEnd(
        Shell(fmt::format("sleep 300 >/dev/null & echo $! > {}; echo out; echo words >&2; exit {}",
                          folder.At("left"), status)));
    EXPECT_EQ(ended.output, "out\n");
    EXPECT_EQ(ended.error, status == 0 ? "" : "sh: exit status 7: words");
    EXPECT_TRUE(ended.in_time);
    pid_t left = 0;
    std::ifstream(folder.At("left")) >> left;
    ASSERT_GT(left, 0);
    EXPECT_EQ(kill(left, SIGKILL), 0) << "a program that ended leaves its descendants alone";
  }
}

TEST(Subprocess, ADetachedProgramHasItsOwnGroupAndNoOutput) {
  const FolderForTest folder;
  const std::string file = folder.At("group");
  const auto started =
      StartDetached({"sh", "-c", "echo noise; cut -d' ' -f5 /proc/$$/stat > \"$0\"", file});
  ASSERT_TRUE(started) << started.error().message;
  std::string group;
  for (int i = 0; i < 6000 && group.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::ifstream(file) >> group;
  }
  EXPECT_FALSE(group.empty());
  EXPECT_NE(group, std::to_string(getpgrp()));
  EXPECT_THAT(StartDetached({"no-such-program"}).error().message,
              testing::HasSubstr("no-such-program could not be started: is it installed?"));
}

}  // namespace
}  // namespace tacho
