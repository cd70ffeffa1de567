#include "ray/analyze_on_nodes.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

constexpr uint64_t kGB = uint64_t{1} << 30;

RayNode Node(uint64_t memory, uint64_t free) {
  RayNode node;
  node.memory = memory;
  node.free_memory = free;
  return node;
}

// At 95 % Ray ends engines.
TEST(MemoryFor, LeavesRoomBelowRaysLimit) {
  for (uint64_t free = 0; free <= 100; ++free) {
    const auto memory = MemoryFor(Node(100 * kGB, free * kGB));
    if (memory)
      EXPECT_LE((100 - free) * kGB + *memory, 90 * kGB) << free;
    else
      EXPECT_LT(free, 11u);
  }
  EXPECT_EQ(MemoryFor(Node(100 * kGB, 60 * kGB)), 50 * kGB);
}

TEST(MemoryFor, IsModestWhereNothingIsKnown) { EXPECT_EQ(MemoryFor(Node(0, 0)), 2 * kGB); }

}  // namespace
}  // namespace tacho
