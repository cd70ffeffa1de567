#include "session/daemon/daemon_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/folder_for_test.h"
#include "session/daemon/fake_daemon_for_test.h"
#include "session/small_disk_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::UnorderedElementsAre;

constexpr std::string_view kTrace = R"({"traceEvents": [{"ph": "X", "cat": "cpu_op"}]})";
constexpr std::string_view kNoOperator = R"({"traceEvents": [{"ph": "X", "cat": "Trace"}]})";

// Two workers: one has this process and its parent, which live, the other a process that does not
// exist.
class DaemonRoundTest : public testing::Test {
 protected:
  // The window begins `lead_ms` from now.
  void Ask(int64_t lead_ms) {
    // The place of a process with another root, in which anybody may write to /tmp.
    const DaemonPlace place{folder_.path(), getuid(), getuid(), folder_.At("root")};
    round_ = DaemonRound({{0, {me_, parent_}}, {1, {gone_}}}, {{0, place}, {1, place}},
                         {.stem = "kineto", .duration_ms = 1000});
    round_.Ask(daemon_, lead_ms);
  }
  // The last question of a process, `after_begin_ms` after the window's begin.
  void Asked(int64_t pid, int64_t after_begin_ms, bool tracing) {
    DaemonProcess& process = daemon_.processes.emplace_back();
    process.pid = pid;
    process.asked_ns = round_.begin_ns() + after_begin_ms * 1'000'000;
    process.tracing = tracing;
  }
  void Leaves(int64_t pid, std::string_view bytes, const std::string& ending = "") {
    folder_.Write("kineto_" + std::to_string(pid) + ".json" + ending, bytes);
  }
  // Writes Kineto's own file instead of the one that it was told to write, `age_s` ago.
  std::string LeavesOwn(int64_t pid, std::string_view bytes, const std::string& ending = "",
                        int64_t age_s = 0) {
    const std::string path = folder_.Write(
        "root/tmp/libkineto_activities_" + std::to_string(pid) + ".json" + ending, bytes);
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(age_s));
    return path;
  }
  std::vector<int64_t> Late() const { return round_.Late(daemon_, round_.Files()); }

  const int64_t me_ = getpid(), parent_ = getppid(), gone_ = INT32_MAX;
  FolderForTest folder_;
  FakeDaemonForTest daemon_;
  DaemonRound round_;
};

TEST_F(DaemonRoundTest, AsksAllOfThem) {
  Ask(0);
  EXPECT_THAT(daemon_.asked, UnorderedElementsAre(Key(me_), Key(parent_), Key(gone_)));
  EXPECT_EQ(daemon_.asked.at(me_).folder, folder_.path());
  EXPECT_EQ(round_.end_ns() - round_.begin_ns(), 1'000'000'000);
}

TEST_F(DaemonRoundTest, LateIsWhoAskedAgainWithoutASign) {
  Ask(-3000);
  Asked(me_, 1500, false);
  Asked(parent_, 1500, false);
  Asked(gone_, -1000, false);  // not heard of since
  EXPECT_THAT(Late(), ElementsAre(me_, parent_));
  Leaves(me_, kTrace);
  EXPECT_THAT(Late(), ElementsAre(parent_));
}

TEST_F(DaemonRoundTest, AFileThatIsOpenBeforeTheBeginIsASign) {
  Ask(60'000);
  Asked(me_, 1500, false);
  EXPECT_THAT(Late(), ElementsAre(me_));
  Leaves(me_, "", ".tmp");
  round_.Look(daemon_, round_.Files());
  EXPECT_THAT(Late(), IsEmpty());
}

TEST_F(DaemonRoundTest, AnEmptyFileOpenedBehindTheBeginIsNone) {
  Ask(-3000);
  Asked(me_, 1500, false);
  Leaves(me_, "", ".tmp");
  round_.Look(daemon_, round_.Files());
  EXPECT_THAT(Late(), ElementsAre(me_));
}

TEST_F(DaemonRoundTest, WholeIsNotYetATrace) {
  Ask(-3000);
  Leaves(me_, kTrace);
  Leaves(parent_, kNoOperator);
  Leaves(gone_, kTrace.substr(0, 20));
  EXPECT_EQ(round_.Whole(), 2);
  EXPECT_EQ(round_.Traces(daemon_), 1);
}

TEST_F(DaemonRoundTest, TheFirstOperatorMayLieAnywhere) {
  Ask(-3000);
  for (const size_t before : {(1u << 20) - 4u, 1u << 20, 3u << 20}) {
    Leaves(me_, std::string(before, ' ') + std::string(kTrace));
    EXPECT_EQ(round_.Traces(daemon_), 1) << before;
  }
}

TEST_F(DaemonRoundTest, WhatIsBeingWrittenWillBeATrace) {
  Ask(-3000);
  Asked(me_, 2500, true);
  Asked(gone_, 2500, true);  // it has died
  Leaves(me_, "{", ".tmp");
  EXPECT_TRUE(round_.Writes(me_, daemon_));
  EXPECT_FALSE(round_.Writes(gone_, daemon_));
  EXPECT_EQ(round_.Traces(daemon_), 1);
}

TEST_F(DaemonRoundTest, WhatComesBehindItsCloseIsOfAnother) {
  Ask(-3000);
  Asked(me_, 1500, false);
  round_.Close(daemon_, round_.Files());
  daemon_.processes.front().tracing = true;  // it traces for another window
  daemon_.processes.front().asked_ns += 5'000'000'000;
  EXPECT_THAT(Late(), ElementsAre(me_));
  EXPECT_FALSE(round_.Writes(me_, daemon_));
}

TEST_F(DaemonRoundTest, WhoWasNotToldIsNoPartOfIt) {
  Ask(60'000);
  round_.KeepOnly({parent_});
  EXPECT_THAT(round_.told(), ElementsAre(parent_));
  EXPECT_THAT(round_.askers().at(0), ElementsAre(parent_));
  EXPECT_THAT(round_.askers().at(1), IsEmpty());
}

// Kineto of torch 2.14 and later does not accept every folder.
TEST_F(DaemonRoundTest, WhoWritesKinetosOwnFileIsNotLate) {
  Ask(-3000);
  Asked(me_, 1500, false);
  Asked(parent_, 1500, false);
  const std::string own = LeavesOwn(me_, kTrace);
  EXPECT_THAT(Late(), ElementsAre(parent_));
  EXPECT_EQ(round_.LeftBy(me_), own);
  EXPECT_EQ(round_.LeftBy(parent_), "");
  EXPECT_TRUE(round_.Refused(me_));
  EXPECT_FALSE(round_.Refused(parent_));
  EXPECT_EQ(round_.Whole(), 1);
  EXPECT_EQ(round_.Traces(daemon_), 1);
}

TEST_F(DaemonRoundTest, AnOpenFileOfKinetosOwnIsASignToo) {
  Ask(60'000);
  Asked(me_, 1500, false);
  LeavesOwn(me_, "", ".tmp");
  round_.Look(daemon_, round_.Files());
  EXPECT_THAT(Late(), IsEmpty());
}

TEST_F(DaemonRoundTest, AFileOfAnEarlierSessionIsNotTaken) {
  Ask(-3000);
  LeavesOwn(me_, kTrace, "", 10);
  LeavesOwn(parent_, "{", ".tmp", 10);
  EXPECT_EQ(round_.LeftBy(me_), "");
  EXPECT_FALSE(round_.Refused(me_));
  EXPECT_FALSE(round_.Refused(parent_));
}

TEST_F(DaemonRoundTest, TakesOnlyRegularFilesOfTheProcessesUser) {
  Ask(-3000);
  std::filesystem::create_symlink(folder_.Write("secret", kTrace),
                                  folder_.At("kineto_" + std::to_string(me_) + ".json"));
  const std::string pipe = folder_.At("kineto_" + std::to_string(parent_) + ".json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(round_.Whole(), 0);
  EXPECT_EQ(round_.LeftBy(me_), "");
  EXPECT_EQ(round_.LeftBy(parent_), "");
  if (getuid() != 0) GTEST_SKIP() << "only root makes files of others";
  ASSERT_EQ(chown(LeavesOwn(gone_, kTrace).c_str(), 65534, 0), 0);
  EXPECT_EQ(round_.LeftBy(gone_), "");
}

// A later window's own files would have the same names.
TEST_F(DaemonRoundTest, AtItsCloseKinetosOwnFilesAreMovedAway) {
  Ask(-3000);
  const std::string own = LeavesOwn(me_, kTrace);
  round_.Close(daemon_, round_.Files());
  EXPECT_FALSE(std::filesystem::exists(own));
  EXPECT_EQ(round_.LeftBy(me_), round_.FileOf(me_));
  EXPECT_TRUE(round_.Refused(me_));
  const std::string next = LeavesOwn(me_, kNoOperator);
  EXPECT_EQ(round_.Traces(daemon_), 1);
  round_.RemoveFiles();
  EXPECT_TRUE(std::filesystem::exists(next));
}

TEST_F(DaemonRoundTest, AtItsCloseTheyAreCopiedFromAnotherDisk) {
  const SmallDiskForTest disk(folder_.At("root/tmp"));
  if (!disk.works()) GTEST_SKIP() << "only root has a disk of its own";
  Ask(-3000);
  const std::string own = LeavesOwn(me_, kTrace);
  round_.Close(daemon_, round_.Files());
  EXPECT_FALSE(std::filesystem::exists(own));
  EXPECT_EQ(round_.LeftBy(me_), round_.FileOf(me_));
  EXPECT_TRUE(round_.Refused(me_));
  LeavesOwn(me_, kNoOperator);
  EXPECT_EQ(round_.Traces(daemon_), 1);
}

TEST_F(DaemonRoundTest, TellsEachWorkerItsFolder) {
  round_ = DaemonRound({{0, {me_}}, {1, {gone_}}}, {{0, {"/a", {}, {}}}, {1, {"/b", {}, {}}}},
                       {.stem = "s"});
  round_.Ask(daemon_, 0);
  EXPECT_EQ(daemon_.asked.at(me_).folder, "/a");
  EXPECT_THAT(round_.FileOf(gone_), EndsWith("/b/s_" + std::to_string(gone_) + ".json"));
  EXPECT_THAT(round_.ConfigText(),
              testing::AllOf(HasSubstr("=/a/s.json"), HasSubstr("=/b/s.json")));
}

TEST_F(DaemonRoundTest, RemovesItsOwnFilesAlone) {
  Ask(-3000);
  Leaves(me_, kTrace);
  Leaves(parent_, "{", ".tmp");
  Leaves(7, kTrace);
  round_.RemoveFiles();
  EXPECT_EQ(ReadFolder(folder_.path()).size(), 1);
}

}  // namespace
}  // namespace tacho
