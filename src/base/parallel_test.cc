#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tacho {
namespace {

TEST(ParallelFor, DoesEveryJobOnce) {
  for (const size_t threads : {0u, 1u, 2u, 7u}) {
    std::vector<std::atomic<int>> done(100);
    ParallelFor(done.size(), threads, [&](size_t i) { ++done[i]; });
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
  ParallelFor(0, 4, [](size_t) { FAIL(); });
}

TEST(ParallelFor, ThrowsTheFirstFailureAfterAllHaveEnded) {
  std::atomic<int> done = 0;
  try {
    ParallelFor(50, 3, [&](size_t i) {
      ++done;
      if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
    });
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "7");
  }
  EXPECT_EQ(done, 50);
}

}  // namespace
}  // namespace tacho
