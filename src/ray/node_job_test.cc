#include "ray/node_job.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/folder_for_test.h"
#include "io/read_whole.h"

namespace tacho {
namespace {

// Runs a job in the shell, as Ray does: its output goes to a file. Stops it once its end is there.
std::string LogOfStopped(const std::string& folder, const std::string& command) {
  const std::string job = CommandOfJob("job-1", command, "rm " + folder + "/there");
  const std::string script =
      "cd " + folder + "; touch there log; setsid sh -c \"$JOB\" >log 2>&1 & p=$!; " +
      "until grep -q '^end of' " + folder + "/log; do sleep 0.05; done; " + "kill -- -$p; wait $p";
  setenv("JOB", job.c_str(), 1);
  EXPECT_EQ(std::system(script.c_str()), 0);
  return ReadWholeFile(folder + "/log", 1 << 20).value();
}

TEST(NodeJob, SaysHowItsCommandEndedAndClearsWhenItIsStopped) {
  const FolderForTest folder;
  const std::string log = LogOfStopped(folder.path(), "printf 'no end'; exit 3");
  EXPECT_EQ(EndInLog(log, "job-1"), 3) << log;
  EXPECT_EQ(EndInLog(log, "job-2"), std::nullopt);
  EXPECT_EQ(LastWordsInLog(log, "job-1"), "no end");
  EXPECT_FALSE(ReadWholeFile(folder.path() + "/there", 1)) << "it was removed";
}

TEST(NodeJob, TheEndOfALogIsLookedAt) {
  const std::string ray =
      "Running entrypoint for job job-1: trap 'x' TERM; echo end of job-1: $?\n";
  EXPECT_EQ(EndInLog(ray, "job-1"), std::nullopt);
  EXPECT_EQ(EndInLog(ray + "\nend of job-1: 0", "job-1"), std::nullopt) << "not yet whole";
  EXPECT_EQ(EndInLog(ray + "\nend of job-1: 0\n", "job-1"), 0);
  EXPECT_EQ(EndInLog("words\n\nend of job-1: 127\n" + ray, "job-1"), 127);
  EXPECT_EQ(LastWordsInLog("words\n\nend of job-1: 127\n" + ray, "job-1"), "words");
  EXPECT_EQ(LastWordsInLog("", "job-1"), "");
}

}  // namespace
}  // namespace tacho
