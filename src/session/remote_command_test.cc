#include "session/remote_command.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"
#include "net/clock.h"

namespace tacho {
namespace {

// The program `ssh` while it lives: a shell script. What it leaves running, by the pid in the file
// "left", ends with it.
class SshForTest {
 public:
  explicit SshForTest(const std::string& script) {
    namespace fs = std::filesystem;
    fs::permissions(folder_.Write("ssh", "#!/bin/sh\ncd " + folder_.path() + "\n" + script),
                    fs::perms::owner_all);
    setenv("PATH", (folder_.path() + ":" + path_).c_str(), 1);
  }
  ~SshForTest() {
    setenv("PATH", path_.c_str(), 1);
    pid_t left = 0;
    if (std::ifstream(folder_.At("left")) >> left) kill(left, SIGKILL);
  }

 private:
  const std::string path_ = std::getenv("PATH");
  FolderForTest folder_;
};

std::string ReadAll(RemoteCommand& command) {
  std::string all;
  std::array<char, 4096> bytes;
  while (const size_t got = command.Read(bytes.data(), bytes.size())) all.append(bytes.data(), got);
  return all;
}

TEST(RemoteCommand, AChildThatKeepsTheStandardErrorIsNotWaitedFor) {
  for (const int status : {0, 7}) {
    const SshForTest ssh(
        "sleep 300 > /dev/null &\necho $! > left\necho out\necho words >&2\nexit " +
        std::to_string(status));
    const int64_t begin_ns = MonotonicNs();
    RemoteCommand command("host", "true", std::chrono::milliseconds(0), {});
    EXPECT_EQ(ReadAll(command), "out\n");
    const Result<void> ended = command.Finish();
    EXPECT_LT(MonotonicNs() - begin_ns, 60'000'000'000);
    EXPECT_EQ(ended ? "" : ended.error().message,
              status == 0 ? "" : "ssh host: exit status 7: words");
  }
}

TEST(RemoteCommand, ItsLastWordsMayComeAfterItsOutput) {
  const SshForTest ssh("echo out\nexec >&-\nsleep 2\necho words >&2\nexit 7");
  RemoteCommand command("host", "true", std::chrono::milliseconds(0), {});
  EXPECT_EQ(ReadAll(command), "out\n");
  EXPECT_EQ(command.Finish().error().message, "ssh host: exit status 7: words");
}

}  // namespace
}  // namespace tacho
