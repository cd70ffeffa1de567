#include "control/nsys/nsys_control.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/folder_for_test.h"
#include "base/subprocess.h"

namespace tacho {
namespace {

size_t AgentsOf(const std::string& session) {
  const std::vector<NsysAgent> agents = NsysAgents();
  return static_cast<size_t>(std::ranges::count(agents, session, &NsysAgent::session));
}

TEST(EndNsysSession, EndsAnAgentAlsoWhenNsysDoesNotAnswer) {
  const FolderForTest folder;
  const std::string nsys = folder.At("nsys"), session = "of " + folder.path();
  std::ofstream(nsys)
      << "#!/bin/sh\n[ \"$1\" = shutdown ] && exit 1\nwhile :; do sleep 0.05; done\n";
  ASSERT_EQ(chmod(nsys.c_str(), 0755), 0);
  ASSERT_TRUE(StartDetached({nsys, "--start-agent", "--session-name=" + session}));
  for (int i = 0; i < 1000 && AgentsOf(session) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_GT(AgentsOf(session), 0u);  // its shell may be forking
  EndNsysSession(nsys, "another");
  EXPECT_GT(AgentsOf(session), 0u);
  EndNsysSession(nsys, session);
  for (int i = 0; i < 1000 && AgentsOf(session) > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(AgentsOf(session), 0u);
}

}  // namespace
}  // namespace tacho
