#include "doctor/doctor_pages.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace tacho {
namespace {

using testing::HasSubstr;

TEST(CheckPages, EachHasItsOwnIdAndSaysAllThatAPageSays) {
  std::set<std::string> ids;
  int number = 0;
  for (const CheckPage& page : CheckPages()) {
    EXPECT_TRUE(ids.insert(page.id).second) << page.id;
    EXPECT_EQ(std::stoi(page.id.substr(1)), ++number) << "in the order of their numbers";
    for (const std::string* text : {&page.title, &page.symptom, &page.cause, &page.versions,
                                    &page.remedy, &page.verified, &page.seen})
      EXPECT_FALSE(text->empty()) << page.id;
    EXPECT_FALSE(page.findings.empty()) << page.id;
    EXPECT_FALSE(page.looks.empty()) << page.id;
  }
  EXPECT_GE(number, 40);
}

// Whatever can be wrong with a deployment before a recording has a page.
TEST(CheckPages, EveryFindingThatBlocksHasAPage) {
  for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i) {
    const FindingKind& kind = KindOf(static_cast<FindingId>(i));
    if (kind.severity != FindingSeverity::kBlocking) continue;
    EXPECT_FALSE(PagesFor(kind.id).empty()) << kind.id;
  }
}

TEST(PagesFor, KnowsNumbersAndFindings) {
  for (const char* id : {"D06", "d6", "6", "front-end-thread"}) {
    ASSERT_EQ(PagesFor(id).size(), 1u) << id;
    EXPECT_EQ(PagesFor(id)[0]->id, "D06") << id;
  }
  EXPECT_EQ(PagesFor("stacks-unbounded").size(), 2u);
  for (const char* id : {"", "D", "D999", "-1", "front-end", "D06x"})
    EXPECT_TRUE(PagesFor(id).empty()) << id;
  EXPECT_EQ(NearestPage("front-end-thred"), "front-end-thread");
  EXPECT_EQ(NearestPage("zzzzzzzzzzzz"), "");
}

TEST(PageMarkdown, LinksFindingsAndNotes) {
  const std::string page = PageMarkdown(*PagesFor("D40")[0]);
  EXPECT_THAT(page, HasSubstr("[`front-end-file`](../findings.md)"));
  EXPECT_THAT(page, HasSubstr("[`no-gpu-events`](../notes.md)"));
  EXPECT_THAT(PagesIndexMarkdown(), HasSubstr("[D40](D40.md)"));
  EXPECT_THAT(PageText(*PagesFor("D06")[0], 200), HasSubstr("nothing to do with NCCL"));
}

}  // namespace
}  // namespace tacho
