#include "session/files/trace_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/clock_for_test.h"
#include "base/folder_for_test.h"
#include "session/small_disk_for_test.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class TraceFolderTest : public testing::Test {
 protected:
  FolderForTest folder_;
};

TEST_F(TraceFolderTest, NewIsWhatIsNewOrChanged) {
  std::string old = folder_.Write("old.json", "{}"), grown = folder_.Write("grown.json", "{}");
  FolderState before = ReadFolder(folder_.path());
  folder_.Write("grown.json", "{ }");
  std::string fresh = folder_.Write("deep/new.json", "{}");
  fs::create_symlink(old, folder_.At("link.json"));
  EXPECT_THAT(NewFiles(before, ReadFolder(folder_.path())), ElementsAre(fresh, grown));
  EXPECT_THAT(ReadFolder("/no/such/folder"), IsEmpty());
}

TEST_F(TraceFolderTest, WholeIsToldByTheEnds) {
  EXPECT_TRUE(LooksWhole(folder_.Write("a.json", "{\"traceEvents\":[]}\n")));
  EXPECT_TRUE(LooksWhole(folder_.Write("b.json", "[]")));
  EXPECT_FALSE(LooksWhole(folder_.Write("c.json", "{\"traceEvents\":[{")));
  EXPECT_FALSE(LooksWhole(folder_.Write("d.json.tmp", "{}")));
  EXPECT_FALSE(LooksWhole(folder_.Write("e.json", "")));
  EXPECT_FALSE(LooksWhole(folder_.Write("f.json.gz", "\x1f\x8b\x08")));
  EXPECT_FALSE(LooksWhole(folder_.At("missing.json")));
}

TEST(IsTraceName, WhatItsFolderIsCalledSaysNothing) {
  EXPECT_FALSE(IsTraceName("/t/capture_traces/a.json"));
  EXPECT_TRUE(IsTraceName("/t/capture_traces/a.json", "/t/capture_traces"));
  EXPECT_TRUE(IsTraceName("/capture_traces/runs/w0/a.json", "/capture_traces/runs/w0"));
  EXPECT_FALSE(IsTraceName("/t/w0/capture_traces/a.json", "/t/w0"));
  EXPECT_FALSE(IsTraceName("/t/w0/a.txt", "/t/w0"));
}

TEST(NameHasKey, EndsBeforeTheNextNumber) {
  EXPECT_TRUE(NameHasKey("/share/t-w1_rank0.json", "t-w1"));
  EXPECT_TRUE(NameHasKey("t-w1", "t-w1"));
  EXPECT_FALSE(NameHasKey("/share/t-w10_rank0.json", "t-w1"));
  EXPECT_FALSE(NameHasKey("/t-w1/rank0.json", "t-w1"));
  EXPECT_TRUE(NameHasKey("0.json", ""));
}

TEST_F(TraceFolderTest, WaitsUntilAFileIsWhole) {
  FolderState before = ReadFolder(folder_.path());
  HeldClock clock;
  int looks = 0;
  clock.after_wait = [&] {
    if (++looks == 2) folder_.Write("t.json.tmp", "{\"traceEvents\":[");
    if (looks == 20) {
      folder_.Write("t.json.tmp", "{\"traceEvents\":[]}");
      fs::rename(folder_.At("t.json.tmp"), folder_.At("t.json"));
    }
  };
  SettleOptions options;
  options.expected = 1;
  uint64_t seen = 0;
  auto files = WaitForFiles(
      folder_.path(), before, options, {}, [&](uint64_t bytes) { seen = bytes; }, clock);
  EXPECT_GT(looks, 20);
  EXPECT_THAT(files, ElementsAre(folder_.At("t.json")));
  EXPECT_EQ(seen, 18u);
}

TEST_F(TraceFolderTest, GivesUpWhenNothingGrows) {
  FolderState before = ReadFolder(folder_.path());
  std::string half = folder_.Write("half.json", "{\"traceEvents\":[{");
  SettleOptions options;
  HeldClock clock;
  EXPECT_THAT(WaitForFiles(folder_.path(), before, options, {}, {}, clock), ElementsAre(half))
      << "what was cut is brought along";
  options.quiet = milliseconds(60'000);
  options.patience = milliseconds(300);
  EXPECT_THAT(WaitForFiles(folder_.path(), before, options, {}, {}, clock), ElementsAre(half));
  std::stop_source stop;
  stop.request_stop();
  options.patience = milliseconds(0);
  EXPECT_THAT(WaitForFiles(folder_.path(), before, options, stop.get_token(), {}, clock),
              ElementsAre(half));
}

TEST_F(TraceFolderTest, BringsAndLeavesTheEnginesOwn) {
  std::string file = folder_.Write("engine/a.json", "{}");
  auto brought = BringFiles({file}, folder_.At("run/traces"));
  ASSERT_TRUE(brought);
  EXPECT_THAT(brought->files, ElementsAre(folder_.At("run/traces/a.json")));
  EXPECT_FALSE(brought->no_room);
  EXPECT_TRUE(fs::exists(file));
  EXPECT_EQ(fs::file_size(brought->files.front()), 2u);
  EXPECT_TRUE(BringFiles({brought->files.front()}, folder_.At("run/traces"))) << "already there";
  auto missing = BringFiles({folder_.At("gone.json")}, folder_.At("run/traces"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kOutput);
}

// The owner of the folder may put a link there after it was looked at.
TEST_F(TraceFolderTest, WithAnOwnerOnlyHisRegularFilesAreBrought) {
  const std::string file = folder_.Write("engine/a.json", "{}");
  const auto brought = BringFiles({file}, folder_.At("run"), getuid());
  ASSERT_TRUE(brought) << brought.error().message;
  EXPECT_EQ(fs::file_size(brought->files.front()), 2u);
  EXPECT_EQ(fs::hard_link_count(file), 2u) << "no copy within a file system";
  EXPECT_THAT(brought->whole, ElementsAre(file));
  EXPECT_FALSE(BringFiles({file}, folder_.At("other"), getuid() + 1));
  fs::create_symlink(file, folder_.At("engine/link.json"));
  EXPECT_FALSE(BringFiles({folder_.At("engine/link.json")}, folder_.At("other"), getuid()));
  ASSERT_EQ(mkfifo(folder_.At("engine/pipe.json").c_str(), 0600), 0);
  EXPECT_FALSE(BringFiles({folder_.At("engine/pipe.json")}, folder_.At("other"), getuid()));
  EXPECT_TRUE(fs::is_empty(folder_.At("other")));
}

TEST_F(TraceFolderTest, TwoFilesOfOneNameStayTwo) {
  const std::string first = folder_.Write("engine/a/t.json.gz", "first");
  const std::string second = folder_.Write("engine/b/t.json.gz", "second");
  folder_.Write("run/t.json.gz", "of another session");
  auto brought = BringFiles({first, second}, folder_.At("run"));
  ASSERT_TRUE(brought) << brought.error().message;
  EXPECT_THAT(brought->files,
              ElementsAre(folder_.At("run/t~2.json.gz"), folder_.At("run/t~3.json.gz")));
  EXPECT_THAT(brought->whole, ElementsAre(first, second));
  EXPECT_EQ(fs::file_size(brought->files[0]), 5u);
  EXPECT_EQ(fs::file_size(brought->files[1]), 6u);
  EXPECT_EQ(fs::file_size(folder_.At("run/t.json.gz")), 18u) << "nothing is overwritten";
}

TEST_F(TraceFolderTest, TheOnlyCopyIsNotCalledWhole) {
  const std::string file = folder_.Write("run/t.json", "{}");
  fs::create_directory_symlink(folder_.At("run"), folder_.At("same"));
  fs::create_directory(folder_.At("links"));
  fs::create_symlink(file, folder_.At("links/t.json"));
  for (const char* target : {"run", "same", "links"}) {
    const auto brought = BringFiles({file}, folder_.At(target));
    ASSERT_TRUE(brought) << brought.error().message;
    EXPECT_THAT(brought->files, ElementsAre(folder_.At(std::string(target) + "/t.json")));
    EXPECT_THAT(brought->whole, IsEmpty()) << target;
  }
}

TEST_F(TraceFolderTest, WhereThereIsNoRoomTheEnginesOwnIsLinkedTo) {
  const SmallDiskForTest small(folder_.At("small"));
  if (!small.works()) GTEST_SKIP() << "no right to mount a small disk";
  const std::string fits = folder_.Write("fits.json", "{}");
  const std::string large = folder_.Write("large.json", std::string(1 << 20, ' '));
  const auto brought = BringFiles({fits, large}, folder_.At("small/run"));
  ASSERT_TRUE(brought) << brought.error().message;
  EXPECT_THAT(brought->whole, ElementsAre(fits));
  EXPECT_THAT(brought->no_room->Text(), testing::HasSubstr("1 of its traces is only a link"));
  EXPECT_TRUE(fs::is_symlink(folder_.At("small/run/large.json")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.At("small/run")), {}), 2);
}

}  // namespace
}  // namespace tacho
