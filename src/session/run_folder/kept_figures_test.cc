#include "session/run_folder/kept_figures.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/clock_for_test.h"
#include "base/file_descriptor.h"
#include "base/folder_for_test.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Keeps figures below a temporary folder while it lives.
class StateFolderForTest {
 public:
  StateFolderForTest() { setenv("XDG_STATE_HOME", folder_.path().c_str(), 1); }
  ~StateFolderForTest() { unsetenv("XDG_STATE_HOME"); }
  std::string File() const { return folder_.path() + "/tacho/profiles.json"; }
  void Put(std::string_view text) const {
    fs::create_directories(folder_.path() + "/tacho");
    std::ofstream(File(), std::ios::binary | std::ios::trunc) << text;
  }

 private:
  FolderForTest folder_;
};

ProfileFigures Some(double steps) {
  return {.steps = steps,
          .events = 900 * steps,
          .bytes = 2e5 * steps,
          .window_ns = 4e6 * steps,
          .flush_ns = 5e7 * steps,
          .table_ns = 4e7 * steps,
          .fixed_ns = 3e6};
}

TEST(KeptFigures, ComeBackByTheirKeyWithTheEnginesThatWereSeen) {
  const StateFolderForTest state;
  EXPECT_FALSE(FindFigures("a"));
  KeepFigures("a", Some(16), "id:1", 1'700'000'000);
  KeepFigures("b", Some(3), "", 1'700'000'000);
  KeepFigures("a", Some(100), "id:2", 1'700'000'000);
  const std::optional<KeptFigures> kept = FindFigures("a");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->figures.steps, 100);
  EXPECT_EQ(kept->figures.flush_ns, 5e9);
  EXPECT_EQ(kept->figures.fixed_ns, 3e6);
  EXPECT_EQ(kept->unix_s, 1'700'000'000);
  EXPECT_TRUE(kept->Knows("id:1"));
  EXPECT_TRUE(kept->Knows("id:2"));
  EXPECT_FALSE(kept->Knows("id:3"));
  EXPECT_FALSE(FindFigures("b")->Knows(""));
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(state.File()).parent_path()), {}), 1);
}

TEST(KeptFigures, AreBounded) {
  const StateFolderForTest state;
  for (int i = 0; i < 200; ++i)
    KeepFigures("k" + std::to_string(i), Some(1 + i), "", 1'700'000'000);
  for (int i = 0; i < 200; ++i)
    KeepFigures("k199", Some(7), "id:" + std::to_string(i), 1'700'000'000);
  EXPECT_FALSE(FindFigures("k0"));
  EXPECT_EQ(FindFigures("k150")->figures.steps, 151);
  EXPECT_EQ(FindFigures("k199")->instances.size(), 64u);
  EXPECT_TRUE(FindFigures("k199")->Knows("id:199"));
}

TEST(KeptFigures, ADamagedFileIsAsNone) {
  const StateFolderForTest state;
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"kinds":3})"),
        std::string(R"({"kinds":[1,null,{"key":"a"},{"key":"a","figures":[]}]})"),
        std::string(R"({"kinds":[{"key":"a","figures":{"steps":-1,"events":1,"bytes":1,)"
                    R"("window_ns":1,"flush_ns":1,"table_ns":1}}]})"),
        std::string(R"({"kinds":[{"key":"a","figures":{"steps":"1"}}]})"),
        std::string(3 << 20, ' ')}) {
    state.Put(text);
    EXPECT_FALSE(FindFigures("a")) << text.substr(0, 80);
    KeepFigures("a", Some(2), "id:1", 1'700'000'000);
    ASSERT_TRUE(FindFigures("a")) << text.substr(0, 80);
  }
}

TEST(KeptFigures, OlderEntriesAreReadToo) {
  const StateFolderForTest state;
  state.Put(
      R"({"schema":1,"kinds":[{"key":"a","figures":{"steps":2,"events":9,"bytes":1,"window_ns":1,)"
      R"("flush_ns":5,"table_ns":0},"instances":["id:1"]}]})");
  const std::optional<KeptFigures> kept = FindFigures("a");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->figures.flush_ns, 5);
  EXPECT_EQ(kept->figures.fixed_ns, 0);
  EXPECT_FALSE(kept->unix_s);
}

TEST(KeptFigures, AreNotKeptWhereAnotherOneHoldsTheLock) {
  const StateFolderForTest state;
  state.Put("");
  const std::string folder = fs::path(state.File()).parent_path().string();
  FileDescriptor lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  HeldClock clock;
  KeepFigures("a", Some(2), "id:1", 1'700'000'000, clock);
  EXPECT_FALSE(FindFigures("a"));
  lock.Close();
  KeepFigures("a", Some(2), "id:1", 1'700'000'000);
  EXPECT_TRUE(FindFigures("a"));
}

TEST(KeptFigures, WithoutAFolderNothingIsKept) {
  setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
  KeepFigures("a", Some(1), "", 1'700'000'000);
  EXPECT_FALSE(FindFigures("a"));
  unsetenv("XDG_STATE_HOME");
}

TEST(KeptFigures, AreKeptByAllThatChangesThem) {
  EngineFacts facts;
  facts.kind = EngineKind::kVllm;
  facts.version = "0.32.0";
  facts.model = "m";
  ProfileOptions options;
  const std::string key = FiguresKey(facts, options, "http");
  EXPECT_NE(key, FiguresKey(facts, options, "daemon"));
  options.fields["profile_prefix"] = "mine";
  EXPECT_EQ(key, FiguresKey(facts, options, "http"));
  options.fields["record_shapes"] = "true";
  EXPECT_NE(key, FiguresKey(facts, options, "http"));
  options.fields.clear();
  facts.profiler.with_stack = true;
  EXPECT_NE(key, FiguresKey(facts, options, "http"));
}

}  // namespace
}  // namespace tacho
