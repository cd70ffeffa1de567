#include "cli/options/choice_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two ranks in two sessions, warm and then hot. A trace without events may belong to both.
class ChoiceWords : public testing::Test {
 protected:
  Result<void> Choose(const std::string& session) {
    choice_.session = session;
    readout_.sessions = ChooseSession(session, sessions_, paths_);
    if (readout_.sessions->chosen()) readout_.run.traces.resize(2);
    return WordWhatIsLeftOut(choice_, options_, readout_);
  }
  std::string Why() {
    const auto worded = WordWhatIsLeftOut(choice_, options_, readout_);
    if (worded) return "";
    EXPECT_EQ(worded.error().kind, ErrorKind::kUsage);
    return worded.error().message;
  }

  std::vector<std::string> paths_ = {
      "runs/warm_rank0.pt.trace.json.gz", "runs/warm_rank1.pt.trace.json.gz",
      "runs/hot_rank0.pt.trace.json.gz", "runs/hot_rank1.pt.trace.json.gz"};
  std::vector<std::vector<size_t>> sessions_ = {{0, 1}, {2, 3}};
  TraceChoice choice_;
  ReadOptions options_;
  Readout<RunAnalysis> readout_;
};

TEST_F(ChoiceWords, WhatIsLeftOutComesFirst) {
  readout_.run.skipped = {"runs/empty: is empty (0 bytes)"};
  ASSERT_TRUE(Choose("latest"));
  EXPECT_THAT(readout_.run.skipped,
              ElementsAre(HasSubstr("2 traces of 1 other session (warm_rank0): left out"),
                          HasSubstr("is empty")));
}

TEST_F(ChoiceWords, OfOneSessionNothingIsLeftOut) {
  paths_.resize(2);
  sessions_.resize(1);
  ASSERT_TRUE(Choose("latest"));
  EXPECT_THAT(readout_.run.skipped, IsEmpty());
  readout_ = {};
  const auto chosen = Choose("nosuch");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message,
            "--session nosuch: the only session, warm_rank0, does not have it in a file's path");
}

TEST_F(ChoiceWords, ATraceOfEverySessionNamesNone) {
  paths_.insert(paths_.begin(), "runs/empty");
  sessions_ = {{0, 1, 2}, {0, 3, 4}};
  ASSERT_TRUE(Choose("latest"));
  EXPECT_THAT(readout_.run.skipped,
              ElementsAre(HasSubstr("2 traces of 1 other session (warm_rank0)")));
}

TEST_F(ChoiceWords, OfASessionByAPartOfAPath) {
  ASSERT_TRUE(Choose("warm_rank1"));
  EXPECT_THAT(readout_.run.skipped, ElementsAre(HasSubstr("(hot_rank0)")));
  for (const char* name : {"cold", "rank0"}) {
    readout_ = {};
    const auto chosen = Choose(name);
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(chosen.error().message, HasSubstr("they are: warm_rank0, hot_rank0"));
  }
}

TEST_F(ChoiceWords, WhatThereIsInsteadOfARankOrADevice) {
  using Lacks = SeenTrace::Lacks;
  choice_.ranks = {7, 8};
  readout_.seen.resize(2);
  EXPECT_EQ(Why(), "--rank: no trace says that it is rank 7 or 8") << "no trace names its rank";
  readout_.seen[0] = {.path = "a", .rank = 3, .devices = {"0", "1"}, .lacks = Lacks::kRank};
  readout_.seen[1] = {.path = "b", .rank = 0, .devices = {"2"}, .lacks = Lacks::kRank};
  EXPECT_EQ(Why(), "--rank: no trace says that it is rank 7 or 8; the ranks are: 0, 3");

  choice_.ranks.clear();
  options_.device = "9\n";
  for (SeenTrace& trace : readout_.seen) trace.lacks = Lacks::kDevice;
  EXPECT_EQ(Why(), "--device: no trace has a device '9\\n'; the devices are: 0, 1, 2");
  readout_.seen[0].lacks = Lacks::kNothing;
  readout_.run.traces.resize(1);
  EXPECT_EQ(Why(), "");
  EXPECT_THAT(readout_.run.skipped, ElementsAre("b: no device '9\\n' in it; devices: 2"));
}

TEST_F(ChoiceWords, AWindowAfterTheEnd) {
  options_.window = TraceWindow{DurationNs{2'000'000}, std::nullopt};
  readout_.seen.resize(2);
  for (SeenTrace& trace : readout_.seen) trace.lacks = SeenTrace::Lacks::kWindow;
  readout_.seen[0].path = "a";
  readout_.seen[0].span = {{0}, {1'000'000}};
  EXPECT_EQ(Why(),
            "a: --window begins at 2.00 ms, after the end of the trace at 1.00 ms (as in 1 "
            "other trace)");
}

}  // namespace
}  // namespace tacho
