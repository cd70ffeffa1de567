#include "cli/progress.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(ProgressLine, WithAndWithoutAKnownSize) {
  TextStyle ascii;
  ascii.unicode = false;
  EXPECT_EQ(ProgressLine(50'000'000, 100'000'000, 2, 1.25, ascii),
            "reading 2 traces, 100 MB  ###############                 50 %  1.2 s");
  EXPECT_EQ(ProgressLine(5'000'000, 0, 1, 0.5, ascii), "reading 1 trace, 5.00 MB  0.5 s");
}

TEST(ProgressBar, IsSilentWhereItIsNotEnabledOrQuick) {
  testing::internal::CaptureStderr();
  {
    const ProgressBar off({}, false);
    const ProgressBar quick({}, true);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tacho
