#include "cli/session_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two ranks at 08:00 and again an hour later.
RunAnalysis TwoSessions() {
  RunAnalysis run;
  for (const char* session : {"warm", "hot"}) {
    for (int64_t rank = 0; rank < 2; ++rank) {
      TraceAnalysis& trace = run.traces.emplace_back();
      trace.path =
          std::string("runs/") + session + "_rank" + std::to_string(rank) + ".pt.trace.json.gz";
      trace.facts.rank = rank;
      trace.header.base_time_ns = *session == 'w' ? 0 : 3'600'000'000'000;
      trace.span = {{5}, {1'000'000}};
    }
  }
  return run;
}

std::vector<std::string> Paths(const RunAnalysis& run) {
  std::vector<std::string> paths;
  for (const TraceAnalysis& trace : run.traces) paths.push_back(trace.path);
  return paths;
}

TEST(KeepSession, TheLatestAndSaysWhatIsLeftOut) {
  RunAnalysis run = TwoSessions();
  ASSERT_TRUE(KeepSession("latest", run));
  EXPECT_THAT(Paths(run), ElementsAre(HasSubstr("hot_rank0"), HasSubstr("hot_rank1")));
  EXPECT_THAT(run.skipped, ElementsAre(HasSubstr("2 traces of 1 other session (warm_rank0)")));
  // Of one session nothing is said.
  run.skipped.clear();
  ASSERT_TRUE(KeepSession("latest", run));
  EXPECT_THAT(run.skipped, IsEmpty());
}

TEST(KeepSession, ATraceWithoutEventsIsOfEverySession) {
  RunAnalysis run = TwoSessions();
  run.traces.insert(run.traces.begin(), TraceAnalysis{})->path = "runs/empty";
  ASSERT_TRUE(KeepSession("latest", run));
  EXPECT_THAT(Paths(run),
              ElementsAre("runs/empty", HasSubstr("hot_rank0"), HasSubstr("hot_rank1")));
  EXPECT_THAT(run.skipped, ElementsAre(HasSubstr("(warm_rank0)")));
}

TEST(KeepSession, SaysFirstWhatTheFiguresAreOf) {
  RunAnalysis run = TwoSessions();
  run.skipped = {"runs/empty: is empty (0 bytes)"};
  ASSERT_TRUE(KeepSession("latest", run));
  EXPECT_THAT(run.skipped, ElementsAre(HasSubstr("left out"), HasSubstr("is empty")));
}

TEST(KeepSession, OfOneSessionThereIsNoOther) {
  RunAnalysis run = TwoSessions();
  run.traces.resize(2);
  const auto kept = KeepSession("nosuch", run);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().message,
            "--session nosuch: the only session, warm_rank0, does not have it in a file's path");
}

TEST(KeepSession, ByAPartOfAPath) {
  RunAnalysis run = TwoSessions();
  ASSERT_TRUE(KeepSession("warm_rank1", run));
  EXPECT_THAT(Paths(run), ElementsAre(HasSubstr("warm_rank0"), HasSubstr("warm_rank1")));
  for (const char* name : {"cold", "rank0"}) {
    RunAnalysis all = TwoSessions();
    const auto kept = KeepSession(name, all);
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(kept.error().message, HasSubstr("they are: warm_rank0, hot_rank0"));
  }
}

}  // namespace
}  // namespace tacho
