#include "session/daemon_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/folder_for_test.h"
#include "session/fake_daemon_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kTrace = R"({"traceEvents": [{"ph": "X", "cat": "cpu_op"}]})";
constexpr std::string_view kNoOperator = R"({"traceEvents": [{"ph": "X", "cat": "Trace"}]})";

// Two workers: one of this process and its parent, who live, and one of nobody.
class DaemonRoundTest : public testing::Test {
 protected:
  // The window begins `lead_ms` from now.
  void Ask(int64_t lead_ms) {
    round_ = DaemonRound({{0, {me_, parent_}}, {1, {gone_}}},
                         {.folder = folder_.path(), .stem = "kineto", .duration_ms = 1000});
    round_.Ask(daemon_, lead_ms);
  }
  // The last question of a process, so long after the window's begin.
  void Asked(int64_t pid, int64_t after_begin_ms, bool tracing) {
    DaemonProcess& process = daemon_.processes.emplace_back();
    process.pid = pid;
    process.asked_ns = round_.begin_ns() + after_begin_ms * 1'000'000;
    process.tracing = tracing;
  }
  void Leaves(int64_t pid, std::string_view bytes, const std::string& ending = "") {
    folder_.Write("kineto_" + std::to_string(pid) + ".json" + ending, bytes);
  }
  std::vector<int64_t> Late() const { return round_.Late(daemon_, ReadFolder(folder_.path())); }

  const int64_t me_ = getpid(), parent_ = getppid(), gone_ = INT32_MAX;
  FolderForTest folder_;
  FakeDaemonForTest daemon_;
  DaemonRound round_;
};

TEST_F(DaemonRoundTest, AsksAllOfThem) {
  Ask(0);
  EXPECT_THAT(daemon_.asked, ElementsAre(me_, parent_, gone_));
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
  round_.Look(daemon_, ReadFolder(folder_.path()));
  EXPECT_THAT(Late(), IsEmpty());
}

TEST_F(DaemonRoundTest, AnEmptyFileOpenedBehindTheBeginIsNone) {
  Ask(-3000);
  Asked(me_, 1500, false);
  Leaves(me_, "", ".tmp");
  round_.Look(daemon_, ReadFolder(folder_.path()));
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
  Asked(gone_, 2500, true);  // and died
  Leaves(me_, "{", ".tmp");
  EXPECT_TRUE(round_.Writes(me_, daemon_));
  EXPECT_FALSE(round_.Writes(gone_, daemon_));
  EXPECT_EQ(round_.Traces(daemon_), 1);
}

TEST_F(DaemonRoundTest, WhatComesBehindItsCloseIsOfAnother) {
  Ask(-3000);
  Asked(me_, 1500, false);
  round_.Close(daemon_, ReadFolder(folder_.path()));
  daemon_.processes.front().tracing = true;  // another window
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
