#include "session/daemon/daemon_collect.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/folder_for_test.h"
#include "control/finding_for_test.h"
#include "session/daemon/fake_daemon_for_test.h"
#include "session/small_disk_for_test.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

// One worker, which is this process; its trace lies in the round's folder.
class DaemonCollectTest : public testing::Test {
 protected:
  // `own`: Kineto did not take the folder and wrote to its own path.
  void Bring(const std::string& worker_folder, size_t bytes, bool own = false) {
    workers_.resize(1);
    workers_[0].folder = worker_folder;
    const std::string name =
        (own ? "root/tmp/libkineto_activities_" : "kineto_") + std::to_string(getpid()) + ".json";
    DaemonRound round({{0, {getpid()}}},
                      {{0, {folder_.path(), getuid(), getuid(), folder_.At("root")}}},
                      {.stem = "kineto"});
    round.Ask(daemon_, -3000);
    trace_ = folder_.Write(name, "{\"traceEvents\":[]}" + std::string(bytes, ' '));
    findings_ = BringRound(round, daemon_, workers_);
  }
  std::string There() const {
    return workers_[0].expectation.files.size() == 1 ? workers_[0].expectation.files[0] : "";
  }

  FolderForTest folder_;
  FakeDaemonForTest daemon_;
  std::vector<RecordedWorker> workers_;
  std::string trace_;
  std::vector<Finding> findings_;
};

TEST_F(DaemonCollectTest, MovesATraceToItsWorker) {
  Bring(folder_.At("w0"), 10);
  EXPECT_FALSE(fs::exists(trace_));
  EXPECT_EQ(fs::file_size(There()), 28u);
}

TEST_F(DaemonCollectTest, TakesATraceThatKinetoWroteElsewhereAndSaysWhy) {
  Bring(folder_.At("w0"), 10, true);
  EXPECT_FALSE(fs::exists(trace_));
  EXPECT_EQ(fs::file_size(There()), 28u);
  EXPECT_THAT(IdsOf(findings_), testing::ElementsAre("daemon-path-refused"));
  EXPECT_THAT(findings_.front().evidence, HasSubstr("KINETO_ONDEMAND_TRACE_DIR"));
}

TEST_F(DaemonCollectTest, RemovesNothingThatIsOnlyLinkedTo) {
  const SmallDiskForTest small(folder_.At("small"));
  if (!small.works()) GTEST_SKIP() << "no right to mount a small disk";
  Bring(folder_.At("small/w0"), 1 << 20);
  EXPECT_TRUE(fs::exists(trace_));
  EXPECT_EQ(fs::file_size(There()), (1u << 20) + 18);
  EXPECT_THAT(TextsOf(findings_, true), Contains(HasSubstr("only a link")));
  EXPECT_THAT(IdsOf(findings_), Contains("only-linked"));
}

TEST_F(DaemonCollectTest, AWorkerWithoutAFolderOfItsOwnKeepsItsTrace) {
  Bring(folder_.path(), 10);
  EXPECT_TRUE(fs::exists(trace_));
  EXPECT_EQ(There(), trace_);
}

}  // namespace
}  // namespace tacho
