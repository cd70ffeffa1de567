#include "session/files/fetch_files.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/clock_pair.h"
#include "base/folder_for_test.h"
#include "load/result/records.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr milliseconds kPatience{60'000};

// The test puts a program `ssh` into PATH that runs the command here.
class FetchFilesTest : public ::testing::Test {
 protected:
  FetchFilesTest() : path_(getenv("PATH")) {
    SshIs("exec sh -c \"$command\"");
    setenv("PATH", (folder_.At("bin") + ":" + path_).c_str(), 1);
    fs::create_directories(from_.path);
  }
  ~FetchFilesTest() override { setenv("PATH", path_.c_str(), 1); }

  void SshIs(const std::string& program) const {
    const std::string file =
        folder_.Write("bin/ssh", "#!/bin/sh\nfor command; do :; done\n" + program + "\n");
    fs::permissions(file, fs::perms(0755));
  }
  std::string Write(const std::string& name, const std::string& bytes = "{}") const {
    return folder_.Write("engine/" + name, bytes);
  }
  Result<std::vector<std::string>> Fetch(std::string_view key) const {
    return FetchFiles(from_, key, ReadClocks().unix_ns, folder_.At("run"), kPatience, {},
                      [](uint64_t) {});
  }
  std::vector<std::string> Fetched(std::string_view key) const {
    const auto files = Fetch(key);
    if (!files) return {"error: " + files.error().message};
    return NamesOf({files->begin(), files->end()});
  }
  static std::vector<std::string> NamesOf(const std::vector<fs::path>& files) {
    std::vector<std::string> names;
    for (const fs::path& file : files) names.push_back(file.filename().string());
    return names;
  }
  std::vector<std::string> In(const std::string& name) const {
    if (!fs::exists(folder_.At(name))) return {};
    return NamesOf({fs::directory_iterator(folder_.At(name)), {}});
  }

  FolderForTest folder_;
  const std::string path_;
  const RemoteFolder from_{.transport = MakeSshTransport("gpu7"), .path = folder_.At("engine")};
};

TEST_F(FetchFilesTest, OfOneKeyAndNoOthers) {
  Write("t-w1_rank0.1.pt.trace.json", "whole");
  Write("t-w10_rank0.1.pt.trace.json");
  Write("t-w1_profiler_out_0.txt");
  EXPECT_THAT(Fetched("t-w1"), ElementsAre("t-w1_rank0.1.pt.trace.json"));
  std::ifstream file(folder_.At("run/t-w1_rank0.1.pt.trace.json"));
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(file), {}}), "whole");
}

TEST_F(FetchFilesTest, OlderFilesStayThere) {
  const auto hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(Write("t-w0_old.json"), hour_ago);
  Write("t-w0_new.json");
  EXPECT_THAT(Fetched("t-w0"), ElementsAre("t-w0_new.json"));
}

TEST_F(FetchFilesTest, HostileNamesAreNamesAndNothingElse) {
  const std::string command = "t-w0_$(touch pwned);`touch pwned`.json";
  const std::string line = "t-w0_\nrm -rf x.json", shown = "t-w0_?rm -rf x.json";
  const std::string option = "t-w0 --checkpoint-action=exec=touch pwned.json";
  for (const std::string& name : {command, line, option}) Write(name);
  fs::create_symlink("/etc/passwd", folder_.At("engine/t-w0_link.json"));
  EXPECT_THAT(Fetched("t-w0"), UnorderedElementsAre(command, shown, option));
  EXPECT_THAT(In("run"), UnorderedElementsAre(command, shown, option));
  EXPECT_FALSE(fs::exists("pwned") || fs::exists(folder_.At("engine/pwned")));
}

TEST_F(FetchFilesTest, AHostileFolderIsAFolder) {
  const RemoteFolder from{.transport = MakeSshTransport("gpu7"),
                          .path = folder_.At("it's $(touch pwned)")};
  folder_.Write("it's $(touch pwned)/t-w0.json", "{}");
  const auto files = FetchFiles(from, "t-w0", ReadClocks().unix_ns, folder_.At("run"), kPatience,
                                {}, [](uint64_t) {});
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->size(), 1u);
}

TEST_F(FetchFilesTest, AnArchiveThatIsCutBringsNoHalfFile) {
  Write("t-w0_rank0.json", std::string(100'000, 'x'));
  SshIs("sh -c \"$command\" | head -c 50000");
  const auto files = Fetch("t-w0");
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind, ErrorKind::kRemote);
  EXPECT_THAT(files.error().message, HasSubstr("what came from gpu7"));
  EXPECT_THAT(In("run"), IsEmpty());
}

TEST_F(FetchFilesTest, AFailedSshSaysWhy) {
  SshIs("echo 'Permission denied (publickey).' >&2; exit 255");
  const auto files = Fetch("t-w0");
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().message, "ssh gpu7: exit status 255: Permission denied (publickey).");
}

TEST_F(FetchFilesTest, RemovesWhatHasTheKeyAndIsNew) {
  const auto hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(Write("trial-w1_old.json"), hour_ago);
  for (const char* name :
       {"trial-w1_rank0.json", "trial-w1_profiler_out_0.txt", "trial-w1_a\nb.json",
        "trial-w10_rank0.json", "t-w1_rank0.json", "mine.json"})
    Write(name);
  const auto removed = RemoveFetched(from_, "trial-w1", ReadClocks().unix_ns, kPatience);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_THAT(In("engine"), UnorderedElementsAre("trial-w1_old.json", "trial-w10_rank0.json",
                                                 "t-w1_rank0.json", "mine.json"));
}

TEST_F(FetchFilesTest, RemovesNothingWithoutAKey) {
  Write("mine.json");
  EXPECT_FALSE(RemoveFetched(from_, "", ReadClocks().unix_ns, kPatience));
  EXPECT_THAT(In("engine"), ElementsAre("mine.json"));
}

TEST_F(FetchFilesTest, AFolderThatWasNeverMadeHasNothingToRemove) {
  const RemoteFolder from{.transport = MakeSshTransport("gpu7"), .path = folder_.At("none")};
  EXPECT_TRUE(RemoveFetched(from, "trial-w0", ReadClocks().unix_ns, kPatience));
}

TEST_F(FetchFilesTest, FindsTheFolderAndTheClock) {
  const auto found = FindRemoteFolder("gpu7", from_.path, kPatience, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, from_.path);
  EXPECT_LE(std::abs(found->clock_offset_s), 60);
  const auto none = FindRemoteFolder("gpu7:/no/such/folder", "", kPatience, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(FindRemoteFolder("-oProxyCommand=x:/tmp", "", kPatience, {}));
}

}  // namespace
}  // namespace tacho
