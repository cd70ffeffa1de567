#include "serve/view_feed.h"

#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

Trace OneKernel() {
  TraceBuilder builder;
  builder.Kernel("k", {.start = 0, .duration = 10});
  return std::move(builder).Finish();
}

const Classifier& FeedRules() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

// A feed of two files.
class ViewFeedTest : public testing::Test {
 protected:
  void SetUp() override {
    Discovery found;
    for (const char* const path : {"a", "b"}) found.traces.emplace_back().path = path;
    feed_.OnFound(found);
  }
  void Read(size_t source, const std::string& path) {
    auto trace = std::make_unique<const Trace>(OneKernel());
    const PreparedTrace prepared = Prepare(*trace, FeedRules());
    feed_.OnTrace(source, path, std::move(trace), prepared, std::nullopt);
  }
  // Ends the reading, with an analysis of these paths.
  void Finish(const std::vector<std::string>& paths) {
    Readout<RunAnalysis> readout;
    for (const std::string& path : paths) {
      readout.run.traces.push_back(AnalyzeTrace(OneKernel(), FeedRules()));
      readout.run.traces.back().path = path;
    }
    feed_.Finish(std::move(readout));
  }
  std::vector<RankEntry> Entries() { return feed_.run()->view().entries(); }

  ViewFeed feed_{{.version = "1", .title = "", .command_paths = ""}, FeedRules()};
};

TEST_F(ViewFeedTest, WhatTheAnalysisLacksIsNotShown) {
  Read(0, "a#first");
  Read(0, "a#second");
  Read(1, "b");
  Finish({"a#first", "a#second"});
  const std::vector<RankEntry> entries = Entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].state, RankState::kRead);
  EXPECT_EQ(entries[1].state, RankState::kFailed);
  EXPECT_FALSE(entries[1].rank);
  EXPECT_EQ(entries[2].state, RankState::kRead);
  EXPECT_TRUE(feed_.run()->analysis());
}

TEST_F(ViewFeedTest, AFileFailsWithAllItsTraces) {
  Read(0, "a");
  Read(0, "a#more");
  Read(1, "b");
  const Error error{ErrorKind::kUnreadable, "a: needs more memory than there is"};
  feed_.OnEnd(0, &error);
  feed_.OnEnd(1, nullptr);
  Finish({"b"});
  const std::vector<RankEntry> entries = Entries();
  EXPECT_EQ(entries[0].why, error.message);
  EXPECT_EQ(entries[1].state, RankState::kRead);
  EXPECT_EQ(entries[2].why, error.message);
}

TEST_F(ViewFeedTest, TheFirstLookEndsWithWhatIsReadOrWithReading) {
  constexpr std::chrono::minutes kLong(1);
  feed_.OnBytes(1000);
  EXPECT_FALSE(feed_.WaitForFirstLook(std::chrono::milliseconds(1)));
  feed_.OnBytes(1'000'000'000);
  EXPECT_FALSE(feed_.WaitForFirstLook(kLong));
  Finish({});
  EXPECT_TRUE(feed_.WaitForFirstLook(kLong));
}

TEST_F(ViewFeedTest, AnErrorEndsReading) {
  const Error error{ErrorKind::kUnreadable, "a: is no trace"};
  feed_.OnEnd(0, &error);
  feed_.Finish(tl::unexpected<Error>(error));
  ASSERT_TRUE(feed_.run()->error());
  EXPECT_EQ(feed_.run()->error()->message, error.message);
  EXPECT_FALSE(feed_.outcome());
}

// A rank whose clock is ahead by 3 us a rank, and that begins each reduction at another moment.
std::string ReducingTrace(int64_t rank) {
  std::string events;
  for (int64_t i = 0; i < 30; ++i) {
    const int64_t start = 1'000 + 100 * i + (7 * i + 13 * rank) % 40, end = 1'060 + 100 * i;
    events += (i == 0 ? "" : ",") +
              std::string(R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_)") +
              (i % 3 == 0 ? "AllGather" : "AllReduce") + R"(","pid":0,"tid":7,"ts":)" +
              std::to_string(start + 3 * rank) + R"(,"dur":)" + std::to_string(end - start) +
              R"(,"args":{"device":0,"stream":7}})";
  }
  return R"({"schemaVersion":1,"baseTimeNanoseconds":1790857026000000000,"distributedInfo":{"rank":)" +
         std::to_string(rank) + R"(,"world_size":4},"traceEvents":[)" + events + "]}";
}

// The page matches collectives of the ranks that it keeps, the analyses of a run those of digests.
TEST(ViewFeed, ARunThatWasReadMatchesTheSameCollectives) {
  const FolderForTest folder;
  for (int64_t rank = 0; rank < 4; ++rank)
    folder.Write("rank" + std::to_string(rank) + ".json", ReducingTrace(rank));
  ViewFeed feed({.version = "1", .title = "", .command_paths = ""}, FeedRules());
  auto kept = ReadRun({.paths = {folder.path()}}, {.keeper = &feed}, FeedRules(), feed);
  ASSERT_TRUE(kept);
  feed.Finish(std::move(kept));
  RunProgress silent;
  auto read = ReadRun({.paths = {folder.path()}}, {}, FeedRules(), silent);
  ASSERT_TRUE(read);

  const auto expected = feed.run()->view().collectives();
  const MatchedCollectives matched = MatchCollectives(CommRanksOf(read->run));
  EXPECT_EQ(matched.kernels, 120u);
  EXPECT_EQ(matched.kernels, expected->kernels);
  EXPECT_EQ(matched.unmatched, expected->unmatched);
  EXPECT_EQ(matched.residuals.size(), 3u);
  EXPECT_EQ(matched.residuals, expected->residuals);
  ASSERT_EQ(matched.collectives.size(), expected->collectives.size());
  EXPECT_EQ(matched.collectives.size(), 30u);
  for (size_t i = 0; i < matched.collectives.size(); ++i) {
    const Collective &one = matched.collectives[i], &other = expected->collectives[i];
    EXPECT_EQ(one.last, other.last);
    ASSERT_EQ(one.parts.size(), other.parts.size());
    for (size_t part = 0; part < one.parts.size(); ++part) {
      EXPECT_EQ(one.parts[part].row, other.parts[part].row);
      EXPECT_EQ(one.parts[part].rank, other.parts[part].rank);
      EXPECT_EQ(one.parts[part].start, other.parts[part].start);
    }
  }
}

}  // namespace
}  // namespace tacho
