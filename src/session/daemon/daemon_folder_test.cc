#include "session/daemon/daemon_folder.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/folder_for_test.h"
#include "control/live/local_engine.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

constexpr uid_t kAnother = 65534;

// A process of `user` with `setting` in its environment. It lives as long as the object.
class ProcessForTest {
 public:
  explicit ProcessForTest(const std::string& setting, uid_t user = getuid()) {
    pid_ = fork();
    if (pid_ == 0) {
      const std::string daemon = "KINETO_USE_DAEMON=1";
      char* const environment[] = {const_cast<char*>(daemon.c_str()),
                                   const_cast<char*>(setting.c_str()), nullptr};
      char* const words[] = {const_cast<char*>("sleep"), const_cast<char*>("60"), nullptr};
      if (user == getuid() || setuid(user) == 0) execve("/bin/sleep", words, environment);
      _exit(1);
    }
    for (int i = 0; i < 5000 && DaemonTraceFolder({pid_}).empty(); ++i) {
      if (setting.ends_with('=')) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ~ProcessForTest() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::vector<int64_t> pids() const { return {pid_}; }

 private:
  pid_t pid_ = -1;
};

std::string SettingOf(const std::string& folder) { return "KINETO_ONDEMAND_TRACE_DIR=" + folder; }

TEST(DaemonFolder, IsBelowTmpForItsUserAloneAndGoesWithTheObject) {
  std::string path;
  {
    const DaemonFolder folder({getpid()}, "/otherwise");
    path = folder.place().folder;
    EXPECT_THAT(path, StartsWith("/tmp/tacho-"));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    EXPECT_EQ(folder.place().owner, getuid());
    EXPECT_EQ(folder.place().user, getuid());
    EXPECT_EQ(folder.place().OwnFileOf(7), "/tmp/libkineto_activities_7.json");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(DaemonFolder, StaysWhileSomebodyMayStillWriteIntoIt) {
  std::string path;
  {
    const DaemonFolder folder({getpid()}, "/otherwise");
    path = folder.place().folder;
    std::ofstream(path + "/kineto_7.json.tmp") << "{";
  }
  EXPECT_TRUE(fs::exists(path));
  fs::remove_all(path);
}

TEST(DaemonFolder, IsBelowTheFolderThatTheProcessesAreRestrictedTo) {
  const FolderForTest allowed;
  const ProcessForTest process(SettingOf(allowed.path() + "/"));
  const DaemonFolder folder(process.pids(), "/otherwise");
  EXPECT_THAT(folder.place().folder, StartsWith(allowed.path() + "/tacho-"));
  EXPECT_EQ(DaemonFolderParent(process.pids()), allowed.path() + "/");
}

TEST(DaemonFolder, IsBelowTmpIfTheirFolderIsNotThereOrNoneForKineto) {
  const FolderForTest there;
  fs::create_directory(there.At("a.json"));
  for (const std::string& restricted :
       {std::string("/no/such/folder"), std::string("relative"), there.path() + "/../x",
        there.At("a.json"), std::string("/proc/self")}) {
    const ProcessForTest process(SettingOf(restricted));
    const DaemonFolder folder(process.pids(), "/otherwise");
    EXPECT_THAT(folder.place().folder, StartsWith("/tmp/tacho-")) << restricted;
  }
}

TEST(DaemonFolder, BelongsToTheUserOfTheProcesses) {
  if (getuid() != 0) GTEST_SKIP() << "only root has processes of two users";
  const FolderForTest allowed;
  const ProcessForTest process(SettingOf(allowed.path()), kAnother);
  const DaemonFolder folder(process.pids(), "/otherwise");
  struct stat status {};
  ASSERT_EQ(stat(folder.place().folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kAnother);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_EQ(folder.place().owner, kAnother);
  EXPECT_EQ(folder.place().user, kAnother);
}

}  // namespace
}  // namespace tacho
