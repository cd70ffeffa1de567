#include "control/nsys/nsys_sessions.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/folder_for_test.h"
#include "base/subprocess.h"

namespace tacho {
namespace {

using ::testing::IsEmpty;

TEST(NsysSessionsIn, ReadsTheTable) {
  const auto sessions = NsysSessionsIn(
      "              ID         TIME                       STATE LAUNCH NAME\n"
      "         1014594        00:05                  Collection      1 tachotest\n"
      "         1120656     01:00:04                    Launched      2 two words \n");
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].id, "1014594");
  EXPECT_EQ(sessions[0].state, "Collection");
  EXPECT_EQ(sessions[0].name, "tachotest");
  EXPECT_TRUE(sessions[0].Records());
  EXPECT_EQ(sessions[1].name, "two words");
  EXPECT_FALSE(sessions[1].Records());
}

TEST(NsysSessionsIn, LeavesOutWhatIsNoSession) {
  for (const char* text : {"", "\n\n", "There are no active sessions.\n", "1 2 3 4\n", "1\n",
                           "a 00:01 Launched 1 name\n", "1 00:01 Launched one name\n"})
    EXPECT_THAT(NsysSessionsIn(text), IsEmpty()) << text;
}

TEST(NsysAgents, AreFoundByTheirArguments) {
  const FolderForTest folder;
  const std::string nsys = folder.At("nsys");
  std::ofstream(nsys) << "#!/bin/sh\nwhile :; do sleep 0.05; done\n";
  ASSERT_EQ(chmod(nsys.c_str(), 0755), 0);
  const auto of_test = [] {
    std::vector<NsysAgent> agents = NsysAgents();
    std::erase_if(agents, [](const NsysAgent& a) {
      return a.session != "of a test " + std::to_string(getpid());
    });
    return agents;
  };
  EXPECT_THAT(of_test(), IsEmpty());
  const auto process = Subprocess::Start(
      {.arguments = {nsys, "--start-agent", "--session-name=of a test " + std::to_string(getpid())},
       .grace = std::chrono::milliseconds(50)});
  ASSERT_TRUE(process);
  for (int i = 0; i < 1000 && of_test().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto agents = of_test();
  ASSERT_FALSE(agents.empty());  // the shell may be forking
  EXPECT_GE(CpuTimeOf(agents[0].pid), 0);
  EXPECT_EQ(agents[0].program, "") << "its program is a shell";
}

TEST(NsysAgents, AreOfTheirProgram) {
  const FolderForTest folder;
  const std::string nsys = folder.At("nsys"), session = "program " + std::to_string(getpid());
  std::filesystem::copy_file("/bin/sh", nsys);
  const auto process =
      Subprocess::Start({.arguments = {nsys, "-c", "sleep 1000; true", "nsys", "--start-agent",
                                       "--session-name=" + session},
                         .grace = std::chrono::milliseconds(50)});
  ASSERT_TRUE(process);
  std::string program;
  for (int i = 0; i < 1000 && program.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (const NsysAgent& agent : NsysAgents())
      if (agent.session == session) program = agent.program;
  }
  EXPECT_EQ(program, std::filesystem::canonical(nsys).string());
}

TEST(NsysSessionAbove, IsThatOfTheLaunchThatAProcessRunsBelow) {
  EXPECT_EQ(NsysSessionAbove(getpid()), "");
  const FolderForTest folder;
  const std::string nsys = folder.At("nsys");
  std::ofstream(nsys) << "#!/bin/sh\nsh -c 'echo $$; sleep 100; true'\n";
  ASSERT_EQ(chmod(nsys.c_str(), 0755), 0);
  auto process = Subprocess::Start(
      {.arguments = {nsys, "launch", "--session-new=one two", "vllm", "--session-new=no"},
       .grace = std::chrono::milliseconds(50)});
  ASSERT_TRUE(process);
  std::string pid(32, '\0');
  pid.resize(process->Read(pid.data(), pid.size()));
  EXPECT_EQ(NsysSessionAbove(std::stoll(pid)), "one two");
}

TEST(CpuTimeOf, Grows) {
  const int64_t before = CpuTimeOf(getpid());
  ASSERT_GE(before, 0);
  for (int64_t i = 0; CpuTimeOf(getpid()) == before; ++i) ASSERT_LT(i, 1'000'000);
  EXPECT_EQ(CpuTimeOf(0), -1);
}

}  // namespace
}  // namespace tacho
