#include "run/baselines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/file_descriptor.h"
#include "base/folder_for_test.h"
#include "io/read_whole.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

std::string ContentOf(const std::string& path) {
  return ReadWholeFile(path, size_t{1} << 20).value_or("(nothing)");
}

size_t CountIn(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(Baselines, KeepEachRunInAFolder) {
  const FolderForTest folder;
  const BaselinePlace place{folder.At("a/b"), "main"};
  ASSERT_TRUE(SaveBaseline(place, {{"one", "{}", "{\"x\":1,"}, {"two", "", ""}}, false));
  const auto runs = RunsOfBaseline(place);
  ASSERT_TRUE(runs);
  ASSERT_EQ(*runs, (std::vector<std::string>{place.path() + "/run1", place.path() + "/run2"}));
  EXPECT_EQ(ContentOf((*runs)[0] + "/results.json.gz"), "one") << "it is decompressed";
  EXPECT_EQ(ContentOf((*runs)[0] + "/run.json"), "{}");
  EXPECT_EQ(ContentOf((*runs)[0] + "/plan.json"), "{\"x\":1,\n");
  EXPECT_EQ(CountIn((*runs)[1]), 1u) << "no recording of tacho";
  EXPECT_EQ(BaselinesIn(place.folder), std::vector<std::string>{"main"});
  EXPECT_EQ(CountIn(place.folder), 1u) << "nothing is left beside it";
}

TEST(Baselines, AreReplacedOnRequestAlone) {
  const FolderForTest folder;
  const BaselinePlace place{folder.path(), "main"};
  ASSERT_TRUE(SaveBaseline(place, {{"one"}, {"two"}}, false));
  const auto refused = SaveBaseline(place, {{"three"}}, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(RunsOfBaseline(place.path()).size(), 2u);
  ASSERT_TRUE(SaveBaseline(place, {{"three"}}, true));
  EXPECT_EQ(RunsOfBaseline(place.path()).size(), 1u);
  EXPECT_EQ(ContentOf(place.path() + "/run1/results.json.gz"), "three");
  EXPECT_EQ(CountIn(folder.path()), 1u) << "the earlier one is gone";
}

TEST(Baselines, AreThereWhileTheyAreReplaced) {
  const FolderForTest folder;
  const BaselinePlace place{folder.path(), "main"};
  ASSERT_TRUE(SaveBaseline(place, {{"one"}}, false));
  std::atomic<bool> done = false;
  size_t missing = 0;
  std::jthread watch([&] {
    while (!done) missing += fs::exists(place.path()) ? 0 : 1;
  });
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(SaveBaseline(place, {{"two"}}, true));
  done = true;
  watch.join();
  EXPECT_EQ(missing, 0u);
}

TEST(Baselines, RemoveWhatAKilledSaveLeft) {
  const FolderForTest folder;
  const BaselinePlace place{folder.path(), "main"};
  for (const char* dead : {".main-aB3xYz/run1/.tacho-1-0.tmp", ".main-aB3xYw-old/run1/x"})
    folder.Write(dead, "x");
  const std::vector<std::string> others = {".main-aB3xY/x", ".main-2-aB3xYz/x", "main-aB3xYz/x",
                                           ".other-aB3xYz/x", ".main-under1/x"};
  for (const std::string& other : others) folder.Write(other, "x");
  // A save that is under way.
  const FileDescriptor lock(open(folder.At(".main-under1").c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  ASSERT_TRUE(SaveBaseline(place, {{"one"}}, false));
  EXPECT_EQ(CountIn(folder.path()), others.size() + 1);
  for (const std::string& other : others) EXPECT_EQ(ContentOf(folder.At(other)), "x") << other;
}

TEST(Baselines, LeaveOtherFilesAlone) {
  const FolderForTest folder;
  folder.Write("work/important.txt", "x");
  const BaselinePlace work{folder.path(), "work"};
  EXPECT_FALSE(SaveBaseline(work, {{"one"}}, true)) << "a folder that is not a baseline";
  EXPECT_FALSE(RemoveBaseline(work));
  const BaselinePlace place{folder.path(), "main"};
  ASSERT_TRUE(SaveBaseline(place, {{"one"}}, false));
  for (const char* stranger : {"main/notes.md", "main/run1/trace.json", "main/run2/x"}) {
    folder.Write(stranger, "x");
    EXPECT_FALSE(SaveBaseline(place, {{"two"}}, true)) << stranger;
    EXPECT_FALSE(RemoveBaseline(place)) << stranger;
    EXPECT_EQ(ContentOf(folder.At(stranger)), "x");
    fs::remove(folder.At(stranger));
  }
  fs::remove(folder.At("main/run2"));
  fs::create_directory_symlink(place.path(), folder.At("link"));
  EXPECT_FALSE(RemoveBaseline({folder.path(), "link"})) << "a link is not followed";
  EXPECT_EQ(RunsOfBaseline(place.path()).size(), 1u);
  EXPECT_TRUE(RemoveBaseline(place));
  EXPECT_FALSE(fs::exists(place.path()));
  EXPECT_TRUE(fs::exists(folder.At("work/important.txt")));
}

TEST(Baselines, HaveSafeNames) {
  for (const char* name : {"main", "v1.2_rc-3", "0"}) EXPECT_TRUE(CheckBaselineName(name)) << name;
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../x"), std::string("a/b"),
        std::string("-x"), std::string("a b"), std::string("a\0b", 3), std::string("\xc3\xa4"),
        std::string(101, 'a')}) {
    const auto checked = CheckBaselineName(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().kind, ErrorKind::kUsage);
    EXPECT_FALSE(RunsOfBaseline(BaselinePlace{"/", name}));
    EXPECT_FALSE(RemoveBaseline({"/", name}));
  }
}

TEST(Baselines, NamesThatAreNotThereHaveANearestOne) {
  const FolderForTest folder;
  ASSERT_TRUE(SaveBaseline({folder.path(), "main"}, {{"one"}}, false));
  const auto none = RunsOfBaseline(BaselinePlace{folder.path(), "mian"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUnreadable);
  EXPECT_NE(none.error().message.find("did you mean main?"), std::string::npos)
      << none.error().message;
}

TEST(Baselines, StandForTheirRuns) {
  const FolderForTest folder;
  const BaselinePlace place{folder.path(), "main"};
  ASSERT_TRUE(SaveBaseline(place, {{"one"}, {"two"}}, false));
  EXPECT_EQ(WithRunsOfBaselines({"-", place.path(), "trace.json"}),
            (std::vector<std::string>{"-", place.path() + "/run1", place.path() + "/run2",
                                      "trace.json"}));
}

}  // namespace
}  // namespace tacho
