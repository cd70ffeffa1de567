#include "report/documents/compare_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::StartsWith;

// A baseline of two runs, compared with a run that has no name.
TEST(CompareDocument, CallsTheSidesAsTheUserDid) {
  RunChanges changes;
  changes.base.names = {"main"};
  changes.base.paths = {".tacho/baselines/main/run1/a.json", ".tacho/baselines/main/run2/b.json"};
  changes.base.runs = 2;
  changes.now.paths = {"new.json"};
  const auto text = [&] { return RenderText(CompareDocument(changes, {}, {}), {}); };
  EXPECT_THAT(text(), StartsWith(" base     main · 2 runs · 2 traces\n new      new.json\n"));
  changes.base.names = {"runs/a", "runs/b", "runs/c"};
  EXPECT_THAT(text(), StartsWith(" base     runs/a and 2 more · "));
}

}  // namespace
}  // namespace tacho
