#include "session/files/transport.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

// The program `ssh` while this object lives: a shell script.
class SshForTest {
 public:
  explicit SshForTest(const std::string& script) {
    namespace fs = std::filesystem;
    fs::permissions(folder_.Write("ssh", "#!/bin/sh\n" + script), fs::perms::owner_all);
    setenv("PATH", (folder_.path() + ":" + path_).c_str(), 1);
  }
  ~SshForTest() { setenv("PATH", path_.c_str(), 1); }

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

TEST(Transport, ReportsTheLastErrorLineEvenIfItComesAfterTheOutput) {
  const SshForTest ssh("echo \"$@\"\nexec >&-\nsleep 2\necho words >&2\nexit 7");
  const auto command = MakeSshTransport("host")->Run("true", std::chrono::milliseconds(0), {});
  EXPECT_TRUE(ReadAll(*command).ends_with(" -- host true\n"));
  EXPECT_EQ(command->Finish().error().message, "ssh host: exit status 7: words");
}

TEST(Transport, OnThisHostIsAShell) {
  const auto command =
      MakeLocalTransport()->Run("echo $((1 + 2))", std::chrono::milliseconds(0), {});
  EXPECT_EQ(ReadAll(*command), "3\n");
  EXPECT_TRUE(command->Finish());
}

}  // namespace
}  // namespace tacho
