#include "report/words/finding_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/findings/findings.h"
#include "report/documents/explain_document.h"
#include "report/results_for_test.h"
#include "report/tables/finding_tables.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RunFinding FindingForTest(RunFindingKind kind, const std::string& id) {
  RunFinding finding;
  finding.kind = kind;
  finding.id = id;
  finding.cost = {300'000};
  finding.whole = {2'000'000};
  return finding;
}

// Two ranks; one waits for the other, whose host is late.
RunAnalysis RunThatWaits() {
  RunAnalysis run = TwoRanksForTest();
  RankBlame& blame = run.ranks.blame;
  blame.absent = RankBlame::Absent::kNo;
  blame.matched_share = 1;
  for (const size_t rank : {size_t{0}, size_t{1}}) {
    RankBlame::Row& row = blame.table.emplace_back();
    row.rank = rank;
    row.collectives = 40;
    DeviceTime& device = run.traces[rank].devices[0];
    device.exposed_comm = run.ranks.rows[rank].exposed_comm = {150'000};
    device.compute -= DurationNs{150'000};
    device.streams[0].categories.push_back({"comm.collective", 40, {150'000}});
  }
  blame.table[0].suffered = blame.table[1].caused = {120'000};
  blame.table[1].late = {120'000};
  blame.table[1].last = 39;
  blame.table[1].stands_out = true;
  SkewCause cause;
  cause.kind = SkewCause::Kind::kIdle;
  cause.idle = IdleCause::kHostLate;
  cause.time = {120'000};
  blame.table[1].caused_by = {cause};
  blame.waits = {120'000};
  blame.groups.push_back({GroupKind::kTensor, "tp", {0, 1}, 40, {}, {}, {}});
  return run;
}

TEST(FindingText, SaysWhomTheRanksWaitFor) {
  const RunAnalysis run = RunThatWaits();
  std::vector<std::string> texts;
  for (const RunFinding& finding : FindingsOf(run)) texts.push_back(FindingText(run, finding));
  EXPECT_THAT(texts,
              testing::ElementsAre(
                  "the host launched late for at least 30.0 % of the window",
                  "communication itself, without waits, is exposed for 9.0 % of the window",
                  "12.0 % of one rank's time is waiting for rank 1, whose host was late by 120 us "
                  "a step",
                  "copies with no kernel beside them take 5.0 % of the window",
                  "idle time of unknown cause makes 5.0 % of the window"));
}

// By turns, one of two ranks causes half of the waiting or more.
TEST(FindingText, NamesARankThatCausedMuchMoreOfTheWaitingThanAnEqualShare) {
  RunAnalysis run = RunThatWaits();
  run.ranks.blame.table[1].stands_out = false;
  RunFinding skew = FindingForTest(RunFindingKind::kSkew, "wait.others");
  const auto text = [&](int64_t caused) {
    run.ranks.blame.table[1].caused = {caused};
    run.ranks.blame.table[0].caused = DurationNs{120'000 - caused};
    return FindingText(run, skew);
  };
  EXPECT_THAT(text(60'400), HasSubstr(", and no rank stands out"));
  EXPECT_THAT(text(95'000), HasSubstr(", 79.2 % of it for rank 1"));
}

TEST(FindingText, OfRequestsSaysWhichTimeAndHowSure) {
  const RunAnalysis run = TwoRanksForTest();
  RunFinding finding = FindingForTest(RunFindingKind::kRequests, "requests.queue");
  finding.part = RequestPart::kQueue;
  finding.of = FindingWhole::kRequests;
  finding.answered = 10;
  finding.split = 6;
  EXPECT_THAT(FindingText(run, finding), HasSubstr("15.0 % of the time of 6 of 10 requests"));
  finding.confidence = Confidence::kAbout;
  EXPECT_THAT(WhyBounded(finding), HasSubstr("clocks' error"));
  finding.split = 4;
  finding.cut = true;
  EXPECT_THAT(FindingText(run, finding),
              HasSubstr("15.0 % of the recorded time of 4 of 10 requests"));
  EXPECT_THAT(WhyBounded(finding), HasSubstr("fewer than half"));
}

TEST(FindingText, HasTheBoundsOfTheCost) {
  const RunAnalysis run = TwoRanksForTest();
  RunFinding finding = FindingForTest(RunFindingKind::kExposedCopies, "copies");
  const auto text = [&](Confidence confidence) {
    finding.confidence = confidence;
    return FindingText(run, finding);
  };
  EXPECT_THAT(text(Confidence::kMeasured), HasSubstr("take 15.0 % of the window"));
  EXPECT_THAT(text(Confidence::kAtLeast), HasSubstr("take at least 15.0 %"));
  EXPECT_THAT(text(Confidence::kAtMost), HasSubstr("take at most 15.0 %"));
  EXPECT_THAT(text(Confidence::kAbout), HasSubstr("take about 15.0 %"));
  finding.of = FindingWhole::kWindowWithRequests;
  EXPECT_THAT(FindingText(run, finding), HasSubstr("of the time with requests"));
}

// Whatever is found has a sentence, and what is lost has a meaning.
TEST(FindingText, IsThereForEachOfThem) {
  const RunAnalysis run = RunThatWaits();
  for (size_t i = 0; i < static_cast<size_t>(IdleCause::kCount); ++i) {
    RunFinding finding = FindingForTest(RunFindingKind::kIdle, "idle");
    finding.idle = static_cast<IdleCause>(i);
    EXPECT_THAT(FindingText(run, finding), HasSubstr("15.0 % of the window")) << i;
    EXPECT_NE(MeaningOf(finding), "") << i;
  }
  for (size_t i = 0; i < kRequestParts; ++i) {
    RunFinding finding = FindingForTest(RunFindingKind::kRequests, "requests");
    finding.part = static_cast<RequestPart>(i);
    finding.of = FindingWhole::kRequests;
    EXPECT_THAT(FindingText(run, finding), HasSubstr("15.0 % of the requests' time")) << i;
    EXPECT_NE(MeaningOf(finding), "") << i;
  }
  for (const WhyUnknown why : {WhyUnknown::kBlame, WhyUnknown::kFewMatched, WhyUnknown::kJoin,
                               WhyUnknown::kLostWork, WhyUnknown::kTimesRefused}) {
    RunFinding finding = FindingForTest(RunFindingKind::kIdle, "idle");
    finding.confidence = Confidence::kCannotTell;
    finding.because = why;
    EXPECT_NE(FindingText(run, finding), "") << WhyUnknownId(why);
    EXPECT_NE(WhyUnknownId(why), "");
  }
}

TEST(FindingText, OfWhatCannotBeToldSaysWhy) {
  RunAnalysis run = RunThatWaits();
  run.ranks.blame.absent = RankBlame::Absent::kNoMatch;
  const std::vector<RunFinding> findings = FindingsOf(run);
  EXPECT_EQ(findings.back().id, "wait");
  EXPECT_EQ(FindingText(run, findings.back()),
            "for whom the ranks wait cannot be told: nothing tells which kernels of two ranks are "
            "one collective");
  EXPECT_EQ(FindingsTable(run, true).rows.size(), findings.size());
}

std::string ExplainedText(const RunAnalysis& run, std::string_view what) {
  ScreenOptions options;
  options.command_paths = options.view_paths = "run/";
  auto document = ExplainDocument(run, ParseExplainTarget(what), options);
  return document ? RenderText(std::move(*document), options.style) : document.error().message;
}

TEST(ExplainFinding, ShowsItsCostAndWhatItIsOf) {
  const RunAnalysis run = RunThatWaits();
  const std::string text = ExplainedText(run, "finding:idle.host-late");
  EXPECT_THAT(text, HasSubstr(" finding  idle.host-late\n          600 us · 30.0 % of the window "
                              "(2.00 ms over 2 devices)\n"));
  EXPECT_THAT(text, HasSubstr("The host launched late for at least 30.0 % of the window"));
  EXPECT_THAT(text, HasSubstr("tacho view "));
  EXPECT_EQ(ExplainedText(run, "idle.host-late"), text);
  EXPECT_EQ(ExplainedText(run, "finding:1"), text);
  const std::string wait = ExplainedText(run, "finding:wait.rank-1");
  EXPECT_THAT(wait, HasSubstr("came last in 39 of 40 collectives · 120 us later"));
  EXPECT_THAT(wait, HasSubstr("idle time (host-late)"));
}

TEST(ExplainFinding, RefusesWhatIsNotThere) {
  const RunAnalysis run = RunThatWaits();
  EXPECT_THAT(ExplainedText(run, "finding:gpu"),
              HasSubstr("no finding 'gpu': there are idle.host-late, transfer, "));
  EXPECT_THAT(ExplainedText(run, "finding:0"), HasSubstr("no finding '0'"));
  EXPECT_THAT(ExplainedText(run, "gpu"), Not(HasSubstr("no finding")));
}

}  // namespace
}  // namespace tacho
