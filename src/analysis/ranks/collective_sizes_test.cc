#include "analysis/ranks/collective_sizes.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/ranks/comm_messages.h"
#include "analysis/ranks/fleet_for_test.h"

namespace tacho {
namespace {

using Arguments = FleetForTest::OwnedArguments;

Arguments Sized(std::string_view name, int64_t in, int64_t out,
                std::string_view type = "BFloat16") {
  return {{"Collective name", "\"" + std::string(name) + "\""},
          {"In msg nelems", std::to_string(in)},
          {"Out msg nelems", std::to_string(out)},
          {"dtype", "\"" + std::string(type) + "\""}};
}

std::vector<CollectiveSize> SizesIn(FleetForTest fleet) {
  return std::move(fleet).Finish().ranks.blame.sizes;
}

// Of 4 ranks, each collective with 3 us of transfer and up to 50 us of waiting.
CollectiveSize SizeOf(std::string_view name, int64_t in, int64_t out,
                      std::string_view type = "BFloat16") {
  std::mt19937 random(5);
  FleetForTest fleet(4);
  for (int i = 0; i < 9; ++i) {
    for (size_t rank = 0; rank < 4; ++rank)
      fleet.Compute(rank, static_cast<int64_t>(random() % 50'000));
    fleet.JoinWith({0, 1, 2, 3}, 3'000, "tp:0", std::vector(4, Sized(name, in, out, type)));
  }
  const auto sizes = SizesIn(std::move(fleet));
  EXPECT_EQ(sizes.size(), 1u);
  return sizes.empty() ? CollectiveSize{} : sizes.front();
}

TEST(CollectiveSizes, BandwidthsAreThoseOfNcclTests) {
  constexpr int64_t kElements = 3'000'000;  // 6 MB in 3 us: 2,000 GB/s
  const struct {
    const char* name;
    int64_t in, out;
    CollectiveOp op;
    double factor;
  } cases[] = {
      {"allreduce", kElements, kElements, CollectiveOp::kAllReduce, 1.5},
      {"_allgather_base", kElements / 4, kElements, CollectiveOp::kAllGather, 0.75},
      {"_reduce_scatter_base", kElements, kElements / 4, CollectiveOp::kReduceScatter, 0.75},
      {"all_to_all", kElements, kElements, CollectiveOp::kAllToAll, 0.75},
      {"broadcast", kElements, kElements, CollectiveOp::kBroadcast, 1},
      {"reduce", kElements, kElements, CollectiveOp::kReduce, 1},
      {"gather", kElements / 4, kElements, CollectiveOp::kGather, 0.75},
  };
  for (const auto& each : cases) {
    const CollectiveSize size = SizeOf(each.name, each.in, each.out);
    EXPECT_EQ(size.op, each.op) << each.name;
    EXPECT_EQ(size.group, GroupKind::kTensor);
    EXPECT_EQ(size.ranks, 4);
    EXPECT_EQ(size.bytes, 2 * kElements);
    EXPECT_EQ(size.count, 9u);
    EXPECT_EQ(size.transfer.ns, 3'000);
    EXPECT_EQ(size.total.ns, 27'000);
    EXPECT_DOUBLE_EQ(size.algorithm_bandwidth(), 2'000) << each.name;
    EXPECT_DOUBLE_EQ(size.bus_bandwidth(), 2'000 * each.factor) << each.name;
  }
  EXPECT_EQ(SizeOf("allreduce", 10, 10, "Float").bytes, 40);
  EXPECT_EQ(SizeOf("allreduce", 10, 10, "Float8_e4m3fn").bytes, 10);
}

TEST(CollectiveSizes, SizesAreApartAndMostTransferIsFirst) {
  FleetForTest fleet(2);
  for (int i = 0; i < 20; ++i) {
    fleet.Compute(0, 2'000);
    fleet.JoinWith({0, 1}, 1'000, "tp", std::vector(2, Sized("allreduce", 100, 100)));
    if (i % 4 != 0) continue;
    fleet.JoinWith({0, 1}, 7'000 + i, "tp", std::vector(2, Sized("allreduce", 900, 900)));
  }
  const auto sizes = SizesIn(std::move(fleet));
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[0].bytes, 1'800);
  EXPECT_EQ(sizes[0].count, 5u);
  EXPECT_EQ(sizes[0].transfer.ns, 7'008);
  EXPECT_EQ(sizes[1].count, 20u);
}

TEST(CollectiveSizes, TheProcessGroupMayHaveMoreRanksThanTraces) {
  FleetForTest fleet(2);
  Arguments args = Sized("allreduce", 600, 600);
  args.emplace_back("Group size", "8");
  for (int i = 0; i < 5; ++i) fleet.JoinWith({0, 1}, 1'000, "tp", {args, args});
  const auto sizes = SizesIn(std::move(fleet));
  ASSERT_EQ(sizes.size(), 1u);
  EXPECT_EQ(sizes[0].ranks, 8);
  EXPECT_DOUBLE_EQ(sizes[0].bus_bandwidth(), sizes[0].algorithm_bandwidth() * 1.75);
}

TEST(CollectiveSizes, RanksOfOneCollectiveAgreeUnlessItIsAnAllToAll) {
  FleetForTest fleet(2);
  for (int i = 0; i < 5; ++i) {
    fleet.JoinWith({0, 1}, 1'000, "tp",
                   {Sized("allreduce", 100, 100), Sized("allreduce", 101, 101)});
    fleet.JoinWith({0, 1}, 1'000, "ep",
                   {Sized("all_to_allv", 100, 70), Sized("all_to_allv", 300, 330)});
  }
  const auto sizes = SizesIn(std::move(fleet));
  ASSERT_EQ(sizes.size(), 1u);
  EXPECT_EQ(sizes[0].op, CollectiveOp::kAllToAll);
  EXPECT_EQ(sizes[0].group, GroupKind::kExpert);
  EXPECT_EQ(sizes[0].bytes, 660);
}

TEST(CollectiveSizes, WithoutSizesThereAreNone) {
  for (const Arguments& args :
       {Arguments{}, Arguments{{"Collective name", "\"allreduce\""}},
        Sized("allreduce", 100, 100, "QInt8"), Sized("allreduce", -1, 100), Sized("barrier", 1, 1),
        Sized("allreduce", 0, 0), Sized("allreduce", int64_t{1} << 60, 1)}) {
    FleetForTest fleet(2);
    for (int i = 0; i < 5; ++i) fleet.JoinWith({0, 1}, 1'000, "tp", {args, args});
    const RankBlame blame = std::move(fleet).Finish().ranks.blame;
    EXPECT_EQ(blame.absent, RankBlame::Absent::kNo);
    EXPECT_TRUE(blame.sizes.empty());
  }
}

TEST(CollectiveSizes, TypesHaveTheirBytes) {
  EXPECT_EQ(BytesOfType("Half"), 2);
  EXPECT_EQ(BytesOfType("Long"), 8);
  EXPECT_EQ(BytesOfType("half"), 0);
  EXPECT_EQ(CollectiveOpOf("allreduce"), CollectiveOp::kAllReduce);
  EXPECT_EQ(CollectiveOpOf("send"), CollectiveOp::kOther);
}

}  // namespace
}  // namespace tacho
