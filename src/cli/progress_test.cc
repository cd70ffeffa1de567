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

TEST(CountingStream, CountsStoredBytesAndPassesEverythingOn) {
  ProgressCounter counter;
  const std::string bytes(2'500'000, 'x');
  const auto stream = CountingStream(StreamOfMemory(bytes), counter);
  size_t read = 0;
  for (Block block = stream->Next(); block.size > 0; block = stream->Next()) read += block.size;
  EXPECT_EQ(read, bytes.size());
  EXPECT_EQ(counter.done_bytes, bytes.size());
  EXPECT_EQ(stream->defect(), StreamDefect::kNone);
}

TEST(ProgressBar, IsSilentWhereItIsNotEnabledOrQuick) {
  testing::internal::CaptureStderr();
  {
    const ProgressCounter counter;
    const ProgressBar off(counter, {}, false);
    const ProgressBar quick(counter, {}, true);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tacho
