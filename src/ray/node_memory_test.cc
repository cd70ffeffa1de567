#include "ray/node_memory.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

constexpr uint64_t kGB = uint64_t{1} << 30;

// At 95 % Ray ends engines.
TEST(MemoryFor, LeavesRoomBelowRaysLimit) {
  for (uint64_t free = 0; free <= 100; ++free) {
    const auto memory = MemoryFor({100 * kGB, free * kGB});
    if (memory)
      EXPECT_LE((100 - free) * kGB + *memory, 90 * kGB) << free;
    else
      EXPECT_LT(free, 11u);
  }
  EXPECT_EQ(MemoryFor({100 * kGB, 60 * kGB}), 50 * kGB);
}

TEST(MemoryFor, IsModestWhereNothingIsKnown) { EXPECT_EQ(MemoryFor({}), 2 * kGB); }

TEST(MeasureMemory, OfThisHost) {
  const NodeMemory memory = MeasureMemory();
  EXPECT_GT(memory.total, 0u);
  EXPECT_GT(memory.free, 0u);
  EXPECT_LE(memory.free, memory.total);
}

}  // namespace
}  // namespace tacho
