#include "serve/view_feed.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tacho
