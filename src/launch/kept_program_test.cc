#include "launch/kept_program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/folder_for_test.h"
#include "control/live/port_owner.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class KeptProgramTest : public ::testing::Test {
 protected:
  KeptProgram Shell(const std::string& script, uint64_t log_bytes = 64 << 20) {
    auto made = KeptProgram::Make({.arguments = {"/bin/sh", "-c", script},
                                   .environment = {"WORD=said"},
                                   .log = Log(),
                                   .log_bytes = log_bytes,
                                   .grace = milliseconds(500),
                                   .last_grace = milliseconds(500),
                                   .keeper = TACHO_KEEPER});
    EXPECT_TRUE(made);
    return *std::move(made);
  }
  std::string Log() const { return folder_.path() + "/log"; }
  static std::string Text(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  // Whether `test` becomes true within half a minute.
  template <typename Test>
  static bool Becomes(const Test& test) {
    for (int i = 0; i < 3000; ++i) {
      if (test()) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

  FolderForTest folder_;
};

TEST_F(KeptProgramTest, RunsAndEndsByItself) {
  KeptProgram program = Shell("echo $WORD; exit 7");
  EXPECT_EQ(program.Ended(), std::nullopt);
  ASSERT_TRUE(program.Begin());
  EXPECT_TRUE(Becomes([&] { return program.Ended().has_value(); }));
  EXPECT_EQ(program.Ended(), 7);
  program.End();
  EXPECT_EQ(Text(Log()), "said\n");
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(Log()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(KeptProgramTest, AProgramThatIsNotThere) {
  auto made =
      KeptProgram::Make({.arguments = {"/nowhere/program"}, .log = Log(), .keeper = TACHO_KEEPER});
  ASSERT_TRUE(made);
  const auto begun = made->Begin();
  ASSERT_FALSE(begun);
  EXPECT_THAT(begun.error().message, HasSubstr("No such file"));
}

TEST_F(KeptProgramTest, EndsWhatItLeftBehindAndWhatDoesNotListen) {
  // A descendant in its own session that ignores SIGTERM, and whose parent has ended.
  KeptProgram program =
      Shell("setsid sh -c 'trap : TERM; echo $$; while :; do sleep 0.05; done' & sleep 1000");
  ASSERT_TRUE(program.Begin());
  ASSERT_TRUE(Becomes([&] { return Text(Log()).ends_with('\n'); }));
  const int deaf = std::stoi(Text(Log()));
  EXPECT_NE(StartTicksOf(deaf), 0);
  program.End();
  EXPECT_EQ(StartTicksOf(deaf), 0);
  EXPECT_EQ(StartTicksOf(program.pid()), 0);
}

// Like a process that the kernel holds: nobody can end a traced process before its tracer looks.
TEST_F(KeptProgramTest, GivesUpOnWhatDoesNotEnd) {
  KeptProgram program = Shell("echo $$; exec sleep 1000");
  ASSERT_TRUE(program.Begin());
  ASSERT_TRUE(Becomes([&] { return Text(Log()).ends_with('\n'); }));
  const pid_t pid = program.pid();
  if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) != 0) GTEST_SKIP() << "ptrace is not allowed";
  EXPECT_THAT(program.End(), HasSubstr("does not end"));
  EXPECT_THAT(Text(Log()), HasSubstr("also not by SIGKILL: process " + std::to_string(pid)));
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, __WALL), pid);
}

TEST_F(KeptProgramTest, EndsWithItsObject) {
  pid_t pid = 0;
  {
    KeptProgram program = Shell("sleep 1000");
    ASSERT_TRUE(program.Begin());
    pid = program.pid();
  }
  EXPECT_EQ(StartTicksOf(pid), 0);
  { const KeptProgram never_begun = Shell("sleep 1000"); }
}

TEST_F(KeptProgramTest, AKilledKeeperTakesItAlong) {
  for (const bool is_asked : {true, false}) {
    std::filesystem::remove(Log());
    KeptProgram program = Shell("sleep 1000 & echo $!; wait");
    ASSERT_TRUE(program.Begin());
    ASSERT_TRUE(Becomes([&] { return Text(Log()).ends_with('\n'); }));
    const int child = std::stoi(Text(Log()));
    EXPECT_FALSE(program.keeper_was_killed());
    kill(program.keeper(), SIGKILL);
    if (is_asked) {
      EXPECT_TRUE(Becomes([&] { return program.Ended().has_value(); }));
      EXPECT_TRUE(program.keeper_was_killed());
    } else {
      program.End();
    }
    EXPECT_TRUE(Becomes([&] { return StartTicksOf(program.pid()) == 0; }));
    EXPECT_TRUE(Becomes([&] { return StartTicksOf(child) == 0; }));
  }
}

TEST_F(KeptProgramTest, GoesOnWhenReleased) {
  KeptProgram program = Shell("sleep 1000");
  ASSERT_TRUE(program.Begin());
  const pid_t pid = program.pid(), keeper = program.keeper();
  program.Release();
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_NE(StartTicksOf(pid), 0);
  kill(keeper, SIGTERM);
  EXPECT_TRUE(Becomes([&] { return StartTicksOf(pid) == 0; }));
}

TEST_F(KeptProgramTest, ALogIsRotated) {
  // Writes twice the limit, the second time into the emptied file.
  const std::string grow =
      "i=0; while [ $i -lt 20 ]; do echo line $i of a log that grows; i=$((i+1)); done; ";
  KeptProgram program =
      Shell(grow + "while [ -s " + Log() + " ]; do sleep 0.1; done; " + grow + "sleep 1000", 500);
  ASSERT_TRUE(program.Begin());
  EXPECT_TRUE(Becomes([&] { return std::filesystem::exists(Log() + ".2"); }));
  EXPECT_LT(std::filesystem::file_size(Log()), 2000U);
  EXPECT_THAT(Text(Log() + ".2"), HasSubstr("line 0 of"));
}

TEST_F(KeptProgramTest, ALogThatCannotBeCopiedStaysWhole) {
  std::filesystem::create_directories(Log() + ".1/in the way");
  std::filesystem::create_directories(Log() + ".2/in the way");
  KeptProgram program =
      Shell("echo line 0 of a log that grows; sleep 1.5; echo end; sleep 1000", 5);
  ASSERT_TRUE(program.Begin());
  EXPECT_TRUE(Becomes([&] { return Text(Log()).ends_with("end\n"); }));
  EXPECT_THAT(Text(Log()), HasSubstr("line 0 of"));
}

TEST_F(KeptProgramTest, AFullDiskKeepsTheOlderLogs) {
  std::ofstream(Log()) << std::string(200'000, 'x');
  std::ofstream(Log() + ".1") << "one";
  std::ofstream(Log() + ".2") << "two";
  // No file may grow beyond half the size of the log.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100'000, before.rlim_max};
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  KeptProgram program = Shell("sleep 1000", 1000);
  const bool begun = program.Begin().has_value();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  ASSERT_TRUE(begun);
  std::this_thread::sleep_for(milliseconds(2500));  // two looks at its size
  EXPECT_TRUE(Text(Log() + ".1") == "one");         // not shown: it may be long
  EXPECT_TRUE(Text(Log() + ".2") == "two");
  EXPECT_FALSE(std::filesystem::exists(Log() + ".new"));
  EXPECT_EQ(std::filesystem::file_size(Log()), 200'000U);
}

TEST_F(KeptProgramTest, RemovesSharedMemoryThatOnlyItHad) {
  const std::string own = "/dev/shm/tacho-test-" + std::to_string(getpid());
  const std::string older = own + "-older", folder = own + "-folder";
  std::ofstream(older) << std::string(4096, 'x');
  const std::string script =
      "exec /usr/bin/python3 -c \"import mmap,os,time\n"
      "def map(path,mode):\n"
      " f=open(path,mode); f.truncate(4096); return mmap.mmap(f.fileno(),4096)\n"
      "os.makedirs('" +
      folder + "',exist_ok=True)\nmaps=map('" + own + "','w+b'),map('" + folder +
      "/f','w+b'),map('" + older + "','r+b')\nprint('mapped',flush=True); time.sleep(1000)\"";
  for (const bool in_use : {true, false}) {
    std::filesystem::remove(own);
    std::filesystem::remove(Log());
    KeptProgram program = Shell(script);
    ASSERT_TRUE(program.Begin());
    ASSERT_TRUE(Becomes([&] { return Text(Log()).ends_with("mapped\n"); })) << Text(Log());
    const FileDescriptor file(open(own.c_str(), O_RDONLY));
    void* const ours = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
    ASSERT_NE(ours, MAP_FAILED);
    if (!in_use) munmap(ours, 4096);
    program.End();
    EXPECT_EQ(std::filesystem::exists(own), in_use);
    EXPECT_TRUE(std::filesystem::exists(older)) << "it was there before";
    EXPECT_TRUE(std::filesystem::exists(folder + "/f")) << "no engine makes folders there";
    if (in_use) munmap(ours, 4096);
  }
  std::filesystem::remove(older);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tacho
