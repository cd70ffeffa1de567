#include "load/drive/lanes.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "load/plan/plan_for_test.h"

namespace tacho {
namespace {

std::map<size_t, size_t> SharesOf(const Laid& laid) {
  std::map<size_t, size_t> shares;
  for (uint64_t i = 0; i < laid.plan.requests.size(); ++i) ++shares[laid.lanes.TargetOf(i)];
  return shares;
}

TEST(Lanes, EachServerHasItsPlacesAndItsShareOfTheRequests) {
  const Laid laid(PlanOf(70, 7), 3);
  ASSERT_EQ(laid.lanes.count(), 3u);
  EXPECT_EQ(laid.lanes.PlacesOf(0), 3u);
  EXPECT_EQ(laid.lanes.PlacesOf(1), 2u);
  EXPECT_EQ(laid.lanes.PlacesOf(2), 2u);
  EXPECT_EQ(SharesOf(laid), (std::map<size_t, size_t>{{0, 30}, {1, 20}, {2, 20}}));
}

TEST(Lanes, FewerUsersThanServersShareTheirPlaces) {
  const Laid laid(PlanOf(12, 2), 3);
  EXPECT_EQ(laid.lanes.count(), 1u);
  EXPECT_EQ(laid.lanes.PlacesOf(0), 2u);
  EXPECT_EQ(SharesOf(laid), (std::map<size_t, size_t>{{0, 4}, {1, 4}, {2, 4}}));
}

TEST(Lanes, AnOpenLoopHasOne) {
  LoadPlan plan = PlanOf(12, 6);
  plan.options.rate = 10;
  EXPECT_EQ(Laid(plan, 3).lanes.count(), 1u);
  plan.options.concurrency = 0;
  const Laid unbound(plan, 3);
  EXPECT_EQ(unbound.lanes.PlacesOf(0), 0u);
  EXPECT_EQ(SharesOf(unbound), (std::map<size_t, size_t>{{0, 4}, {1, 4}, {2, 4}}));
}

TEST(Lanes, TogetherTheyGoThroughThePlan) {
  PlanOptions options;
  options.mix = {{"agent", 1}, {"chat", 1}};
  options.requests = 200;
  options.seed = 1;
  const LoadPlan plan = *MakePlan(options);
  const NumberedPlan requests(plan);
  const Lanes lanes(requests, plan.options, 3);
  std::multiset<uint64_t> seen;
  for (size_t lane = 0; lane < 3; ++lane) {
    for (uint64_t i = lanes.FirstTurnFrom(lane, 0); requests.Has(i);
         i = lanes.FirstTurnFrom(lane, i + 1)) {
      seen.insert(i);
      for (uint64_t turn = i; requests.HasFollower(turn); ++turn)
        EXPECT_EQ(lanes.TargetOf(turn + 1), lanes.TargetOf(i));
    }
  }
  std::multiset<uint64_t> first_turns;
  for (const PlannedRequest& request : plan.requests)
    if (request.turn == 0) first_turns.insert(request.index);
  EXPECT_EQ(seen, first_turns);
}

TEST(Lanes, APlanOfOneSessionGoesToEachServerInItsRounds) {
  LoadPlan plan = PlanOf(4, 2);
  for (PlannedRequest& request : plan.requests) {
    request.session = 0;
    request.turn = static_cast<uint32_t>(request.index);
  }
  plan.options.requests.reset();
  plan.options.duration_ns = 1;
  const NumberedPlan requests(plan);
  const Lanes lanes(requests, plan.options, 2);
  EXPECT_EQ(lanes.FirstTurnFrom(0, 1), 8u);
  EXPECT_EQ(lanes.FirstTurnFrom(1, 0), 4u);
}

TEST(BodyOrder, BuildsForTheLaneThatHasTheFewest) {
  const LoadPlan plan = PlanOf(40, 2);
  const NumberedPlan requests(plan);
  const Lanes lanes(requests, plan.options, 2);
  BodyOrder order(requests, lanes);
  EXPECT_EQ(order.Next(), 0u);
  EXPECT_EQ(order.Next(), 1u);
  EXPECT_EQ(order.Next(), 2u);
  EXPECT_EQ(order.Next(), 3u);
  for (int i = 0; i < 2; ++i) order.Sent(1);
  EXPECT_EQ(order.Next(), 5u);
  EXPECT_EQ(order.Next(), 7u);
  EXPECT_EQ(order.Next(), 4u);
  size_t rest = 0;
  while (order.Next()) ++rest;
  EXPECT_EQ(rest, 40u - 7);
}

}  // namespace
}  // namespace tacho
