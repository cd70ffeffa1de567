#include "session/trace_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tacho {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class TraceFolderTest : public testing::Test {
 protected:
  TraceFolderTest() {
    std::string name = "/tmp/tacho-folder-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~TraceFolderTest() override { fs::remove_all(folder_); }
  std::string File(const std::string& name, const std::string& text) const {
    std::string path = folder_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string folder_;
};

TEST_F(TraceFolderTest, NewIsWhatIsNewOrChanged) {
  std::string old = File("old.json", "{}"), grown = File("grown.json", "{}");
  FolderState before = ReadFolder(folder_);
  File("grown.json", "{ }");
  std::string fresh = File("deep/new.json", "{}");
  fs::create_symlink(old, folder_ + "/link.json");
  EXPECT_THAT(NewFiles(before, ReadFolder(folder_)), ElementsAre(fresh, grown));
  EXPECT_THAT(ReadFolder("/no/such/folder"), IsEmpty());
}

TEST_F(TraceFolderTest, WholeIsToldByTheEnds) {
  EXPECT_TRUE(LooksWhole(File("a.json", "{\"traceEvents\":[]}\n")));
  EXPECT_TRUE(LooksWhole(File("b.json", "[]")));
  EXPECT_FALSE(LooksWhole(File("c.json", "{\"traceEvents\":[{")));
  EXPECT_FALSE(LooksWhole(File("d.json.tmp", "{}")));
  EXPECT_FALSE(LooksWhole(File("e.json", "")));
  EXPECT_FALSE(LooksWhole(File("f.json.gz", "\x1f\x8b\x08")));
  EXPECT_FALSE(LooksWhole(folder_ + "/missing.json"));
}

TEST_F(TraceFolderTest, WaitsUntilAFileIsWhole) {
  FolderState before = ReadFolder(folder_);
  std::thread writer([&] {
    std::this_thread::sleep_for(milliseconds(300));
    File("t.json.tmp", "{\"traceEvents\":[");
    std::this_thread::sleep_for(milliseconds(700));
    File("t.json.tmp", "{\"traceEvents\":[]}");
    fs::rename(folder_ + "/t.json.tmp", folder_ + "/t.json");
  });
  SettleOptions options;
  options.expected = 1;
  uint64_t seen = 0;
  auto files = WaitForFiles(folder_, before, options, {}, [&](uint64_t bytes) { seen = bytes; });
  writer.join();
  EXPECT_THAT(files, ElementsAre(folder_ + "/t.json"));
  EXPECT_EQ(seen, 18u);
}

TEST_F(TraceFolderTest, GivesUpWhenNothingGrows) {
  FolderState before = ReadFolder(folder_);
  std::string half = File("half.json", "{\"traceEvents\":[{");
  SettleOptions options;
  options.quiet = milliseconds(300);
  EXPECT_THAT(WaitForFiles(folder_, before, options, {}, {}), ElementsAre(half))
      << "what was cut is brought along";
  options.quiet = milliseconds(60'000);
  options.patience = milliseconds(300);
  EXPECT_THAT(WaitForFiles(folder_, before, options, {}, {}), ElementsAre(half));
  std::stop_source stop;
  stop.request_stop();
  options.patience = milliseconds(0);
  EXPECT_THAT(WaitForFiles(folder_, before, options, stop.get_token(), {}), ElementsAre(half));
}

TEST_F(TraceFolderTest, BringsAndLeavesTheEnginesOwn) {
  std::string file = File("engine/a.json", "{}");
  auto brought = BringFiles({file}, folder_ + "/run/traces");
  ASSERT_TRUE(brought);
  EXPECT_THAT(brought->files, ElementsAre(folder_ + "/run/traces/a.json"));
  EXPECT_EQ(brought->no_room, "");
  EXPECT_TRUE(fs::exists(file));
  EXPECT_EQ(fs::file_size(brought->files.front()), 2u);
  EXPECT_TRUE(BringFiles({brought->files.front()}, folder_ + "/run/traces")) << "already there";
  auto missing = BringFiles({folder_ + "/gone.json"}, folder_ + "/run/traces");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kOutput);
}

}  // namespace
}  // namespace tacho
