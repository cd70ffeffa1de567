#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/analyze/analyze_command.h"
#include "cli/exit_status.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Problem(const AnalyzeOptions& options) {
  const auto result = CheckAnalyzeOptions(options);
  return result ? "" : result.error().message;
}

AnalyzeOptions WithPath() {
  AnalyzeOptions options;
  options.traces.paths = {"x"};
  return options;
}

TEST(CheckAnalyzeOptions, NeedsAnInput) {
  EXPECT_THAT(Problem({}), HasSubstr("no trace given"));
  EXPECT_EQ(Problem(WithPath()), "");
  AnalyzeOptions both = WithPath();
  both.profile_dir = "d";
  EXPECT_THAT(Problem(both), HasSubstr("either PATH or --profile-dir"));
}

TEST(CheckAnalyzeOptions, OneFormAtATime) {
  AnalyzeOptions options = WithPath();
  options.json = options.markdown = true;
  EXPECT_THAT(Problem(options), HasSubstr("--json and --markdown do not go together"));
  options.markdown = false;
  options.whole.at(static_cast<size_t>(WholeTable::kKernels)) = true;
  EXPECT_THAT(Problem(options), HasSubstr("--json and a table do not go together"));
}

TEST(CheckAnalyzeOptions, SortAndFilterNeedATable) {
  AnalyzeOptions options;
  options.traces.paths = {"x"};
  options.sort = "total_ns";
  EXPECT_THAT(Problem(options), HasSubstr("--sort needs one of the tables"));
  options.whole.at(static_cast<size_t>(WholeTable::kKernels)) = true;
  options.markdown = true;
  EXPECT_EQ(Problem(options), "");
  options.sort.reset();
  options.whole.at(static_cast<size_t>(WholeTable::kKernels)) = false;
  options.filter = "gemm";
  EXPECT_THAT(Problem(options), HasSubstr("--filter needs one of the tables"));
}

TEST(CheckAnalyzeOptions, ASummaryHasNoModel) {
  AnalyzeOptions options = WithPath();
  options.summary = options.json = true;
  EXPECT_EQ(Problem(options), "");
  options.window = "1:2";
  EXPECT_THAT(Problem(options), HasSubstr("--window does not go with it"));
}

TEST(AnalyzeOptions, SeveralRanks) {
  AnalyzeOptions options;
  const auto parse = [&](const std::vector<std::string>& arguments) {
    options = {};
    return ParseArguments(AnalyzeSpec(options), arguments).has_value();
  };
  ASSERT_TRUE(parse({"x", "--rank", "3", "--rank", "0,1", "--rank", "3"}));
  EXPECT_THAT(*RanksAskedFor(options.traces.rank, "analyze"), ElementsAre(0, 1, 3));
  ASSERT_TRUE(parse({"x"}));
  EXPECT_THAT(*RanksAskedFor(options.traces.rank, "analyze"), IsEmpty());
  for (const char* none : {"-1", "one", "1x"}) {
    ASSERT_TRUE(parse({"x", std::string("--rank=") + none}));
    EXPECT_THAT(RanksAskedFor(options.traces.rank, "analyze").error().message, HasSubstr(none));
  }
}

TEST(AnalyzeOptions, SeveralTables) {
  AnalyzeOptions options;
  options.whole.at(static_cast<size_t>(WholeTable::kOps)) = true;
  options.whole.at(static_cast<size_t>(WholeTable::kSteps)) = true;
  EXPECT_THAT(options.Tables(), ElementsAre(WholeTable::kSteps, WholeTable::kOps));
}

RunAnalysis RunWith(NoteId id) {
  RunAnalysis run;
  run.traces.emplace_back();
  run.traces[0].path = "t.json";
  run.traces[0].notes.Add(id, "byte 5");
  return run;
}

TEST(IncompleteReasons, LostDataAndMissingGpuWork) {
  EXPECT_THAT(IncompleteReasons(RunWith(NoteId::kTruncatedJson)),
              ElementsAre("incomplete: t.json: truncated-json (byte 5)"));
  EXPECT_THAT(IncompleteReasons(RunWith(NoteId::kNoGpuEvents)), testing::SizeIs(1));
  EXPECT_THAT(IncompleteReasons(RunWith(NoteId::kNoEvents)), testing::SizeIs(1));
  EXPECT_THAT(IncompleteReasons(RunWith(NoteId::kOrphanGpuEvents)), IsEmpty());
  EXPECT_THAT(IncompleteReasons(RunWith(NoteId::kNegativeDuration)), IsEmpty());
}

TEST(IncompleteReasons, ATraceThatItsRecordingNamesIsNamedOnce) {
  RunAnalysis run = RunWith(NoteId::kTruncatedJson);
  run.traces[0].path = "moved/traces/w0/t.json";
  run.unproven = {"w0: a full disk; truncated-json (byte 5): /before/traces/w0/t.json"};
  EXPECT_THAT(IncompleteReasons(run), ElementsAre("incomplete: " + run.unproven[0]));
  run.traces[0].notes.Add(NoteId::kDamagedEvent, "byte 3");
  EXPECT_THAT(IncompleteReasons(run), testing::SizeIs(2));
  run.traces[0].path = "moved/traces/w0/other-t.json";
  EXPECT_THAT(IncompleteReasons(run), testing::SizeIs(3));
}

TEST(IncompleteReasons, WhatAllTracesLackIsSaidOnce) {
  RunAnalysis run;
  for (const char* path : {"a.json", "b.json", "c.json"}) {
    TraceAnalysis& trace = run.traces.emplace_back();
    trace.path = path;
    if (*path != 'c') trace.notes.Add(NoteId::kNoEngineStep, "");
  }
  EXPECT_THAT(IncompleteReasons(run),
              ElementsAre("incomplete: a.json: no-engine-step, as in 2 of 3 traces"));
}

TEST(Notices, AreThoseThatNoReasonHas) {
  EXPECT_THAT(NoticesOf(RunWith(NoteId::kNegativeDuration)),
              ElementsAre("t.json: negative-duration (1): negative durations were taken as 0"));
  for (const NoteId id : {NoteId::kTruncatedJson, NoteId::kNoGpuEvents, NoteId::kOddNumber})
    EXPECT_THAT(NoticesOf(RunWith(id)), IsEmpty());
}

TEST(Notices, TheFirstOfMany) {
  EXPECT_THAT(FirstOf(std::vector<std::string>(20, "x")), testing::SizeIs(20));
  const std::vector<std::string> first = FirstOf(std::vector<std::string>(25, "x"));
  EXPECT_EQ(first.size(), 21U);
  EXPECT_EQ(first.back(), "and 5 more");
}

TEST(IncompleteReasons, MissingRanks) {
  RunAnalysis run;
  run.ranks.missing = {{"", 4, 1, {{1, 1}, {3, 3}}, 2}, {"w1", 2, 1, {{0, 0}}, 1}};
  EXPECT_THAT(IncompleteReasons(run),
              ElementsAre("incomplete: rank 1, 3 of world size 4 are missing",
                          "incomplete: w1 rank 0 of world size 2 is missing"));
}

TEST(ExitStatus, EachKindOfErrorHasOne) {
  EXPECT_EQ(StatusOf(ErrorKind::kUsage), 2);
  EXPECT_EQ(StatusOf(ErrorKind::kUnreadable), 3);
  EXPECT_EQ(StatusOf(ErrorKind::kOutput), 3);
  EXPECT_EQ(StatusOf(ErrorKind::kBug), 70);
}

}  // namespace
}  // namespace tacho
