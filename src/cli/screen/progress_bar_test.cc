#include "cli/screen/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cli/screen/progress_line.h"

namespace tacho {
namespace {

TEST(ProgressLine, WithAndWithoutAKnownSize) {
  TextStyle ascii;
  ascii.unicode = false;
  EXPECT_EQ(ProgressLine(50'000'000, 100'000'000, 2, 1.25, ascii),
            "reading 2 traces, 100 MB  ###############                 50 %  1.2 s");
  EXPECT_EQ(ProgressLine(5'000'000, 0, 1, 0.5, ascii), "reading 1 trace, 5.00 MB  0.5 s");
  EXPECT_EQ(ExportLine("a\nb with nsys 2025.1", 0.5, 2),
            "exporting a\\nb with nsys 2025.1   50 %  2.0 s");
  EXPECT_EQ(ReadLine(100'000'000, 1.25), "read 100 MB in 1.2 s");
}

TEST(RedrawnLine, IsRedrawnAndTakenAway) {
  testing::internal::CaptureStderr();
  std::atomic<int> draws = 0;
  {
    const RedrawnLine line([&](double) { return "line " + std::to_string(++draws); });
    for (int tries = 0; tries < 600 && draws < 2; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::StartsWith("\rline 1\x1b[K\rline 2\x1b[K"),
                             testing::EndsWith("\r\x1b[K")));
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
