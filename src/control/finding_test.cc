#include "control/finding.h"

#include <gmock/gmock.h>

#include <set>

namespace tacho {
namespace {

TEST(Finding, EveryKindHasItsOwnIdAndARemedy) {
  std::set<std::string_view> ids;
  for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i) {
    const FindingKind& kind = KindOf(static_cast<FindingId>(i));
    EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
    EXPECT_FALSE(kind.remedy.empty()) << kind.id;
  }
}

TEST(Finding, IsWordedWithItsOwnRemedyAlone) {
  Finding finding{FindingId::kOpenSession, "http://h:1", "its profiler was started"};
  EXPECT_EQ(finding.Text(), "http://h:1: its profiler was started");
  EXPECT_EQ(finding.Remedy(), "tacho engine stop URL");
  finding.remedy = "tacho engine stop http://h:1";
  EXPECT_EQ(finding.Words(), "its profiler was started (tacho engine stop http://h:1)");
  EXPECT_EQ(finding.Remedy(), "tacho engine stop http://h:1");
  EXPECT_EQ((Finding{FindingId::kProfilerOff, "", "it is off", "set X"}).Text(),
            "it is off: set X");
}

TEST(Finding, TroublesAreThoseThatMakeARecordingIncomplete) {
  const std::vector<Finding> findings = {{FindingId::kClockOffset, "a", "1 s"},
                                         {FindingId::kEngineDied, "b", "it died"},
                                         {FindingId::kProfilerOff, "c", "off"}};
  EXPECT_THAT(TextsOf(findings, true), testing::ElementsAre("b: it died", "c: off"));
  EXPECT_THAT(TextsOf(findings, false), testing::ElementsAre("a: 1 s"));
}

TEST(Finding, AnErrorOfAWorkerKeepsItsKindAndNamesTheWorker) {
  for (const ErrorKind kind : {ErrorKind::kUsage, ErrorKind::kRemote})
    for (const char* place : {"http://h:1", "/folder"}) {
      const Error error = FailAt(kind, place, "no").value();
      const Finding finding = FindingOf(error, "http://h:1");
      EXPECT_EQ(finding.severity(), FindingSeverity::kBlocking);
      EXPECT_EQ(finding.id,
                kind == ErrorKind::kRemote ? FindingId::kNoAnswer : FindingId::kRequestDoesNotFit);
      EXPECT_EQ(ErrorOf(finding).kind, kind);
      EXPECT_EQ(finding.subject, "http://h:1");
      EXPECT_EQ(ErrorOf(finding).message,
                error.Place() == "http://h:1" ? "http://h:1: no" : "http://h:1: /folder: no");
    }
}

}  // namespace
}  // namespace tacho
