#include "load/drive/paces.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "base/time.h"
#include "load/plan/plan_for_test.h"

namespace tacho {
namespace {

// The running lanes of a load with this many requests, users and servers.
struct UnderWay {
  UnderWay(uint64_t requests, uint64_t users, size_t targets)
      : laid(PlanOf(requests, users), targets) {}
  const Laid laid;
  Paces paces{laid.requests, laid.lanes};

  void End(Pace& pace, int64_t at_ns) {
    ++pace.resting;
    paces.FreePlace(pace, at_ns);
  }
  // Lets `times` requests of the lane fail in a row, all at second 1.
  void Fail(size_t lane, int times) {
    for (int i = 0; i < times; ++i) paces[lane].failures.Count(true, kNsPerSecond);
  }
};

TEST(Paces, LanesHaveTheirTurnsInTheOrderInWhichTheyTookThem) {
  UnderWay load(12, 3, 3);
  // At the beginning each lane has one turn.
  for (const size_t lane : {0u, 1u, 2u}) EXPECT_EQ(load.paces.NextInTurn().lane, lane);
  EXPECT_TRUE(load.paces.NobodysTurn());
  for (const size_t lane : {2u, 0u, 2u, 2u}) load.paces.TakesTurn(load.paces[lane]);
  EXPECT_EQ(load.paces.NextInTurn().lane, 2u);
  EXPECT_EQ(load.paces.NextInTurn().lane, 0u);
  EXPECT_TRUE(load.paces.NobodysTurn());
}

TEST(Paces, EachLaneGoesThroughItsOwnRequests) {
  UnderWay load(9, 2, 2);
  std::multiset<uint64_t> begun;
  for (const size_t lane : {0u, 1u}) {
    Pace& pace = load.paces[lane];
    for (; const auto next = load.paces.NextOf(pace); ++pace.cursor) {
      EXPECT_EQ(load.paces.NextOf(pace), next);  // the request has not begun yet
      EXPECT_EQ(load.paces.Of(*next).lane, lane);
      EXPECT_FALSE(load.paces.AreThrough());
      begun.insert(*next);
    }
  }
  EXPECT_EQ(begun, (std::multiset<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(load.paces.AreThrough());
  load.paces[1].occupied = 1;
  EXPECT_FALSE(load.paces.AreThrough());
}

TEST(Paces, APlaceKnowsSinceWhenItIsFree) {
  UnderWay load(12, 2, 1);
  Pace& pace = load.paces.NextInTurn();
  ASSERT_EQ(pace.places, 2u);
  EXPECT_EQ(pace.TakePlace(), 0);
  load.End(pace, 40);
  EXPECT_EQ(load.paces.NextInTurn().lane, 0u);
  EXPECT_EQ(pace.TakePlace(), 0);  // the lane's other user begins first
  EXPECT_EQ(pace.TakePlace(), 40);
  EXPECT_FALSE(pace.HasRoom());
  load.End(pace, 50);
  load.End(pace, 60);
  EXPECT_EQ(pace.TakePlace(), 50);
  EXPECT_EQ(pace.TakePlace(), 60);
  EXPECT_EQ(pace.occupied, 2u);
}

TEST(Paces, AnOpenLoopWithoutBoundAlwaysHasRoom) {
  LoadPlan plan = PlanOf(12, 0);
  plan.options.rate = 10;
  const Laid laid(plan, 1);
  Paces paces(laid.requests, laid.lanes);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(paces[0].HasRoom());
    EXPECT_EQ(paces[0].TakePlace(), 0);
  }
  EXPECT_EQ(paces[0].occupied, 5u);
  ++paces[0].resting;
  paces.FreePlace(paces[0], 50);
  EXPECT_EQ(paces[0].TakePlace(), 0);
}

TEST(Paces, PausingUsersWithoutFurtherRequestsAreNotWaitedFor) {
  UnderWay load(1, 1, 1);
  Pace& pace = load.paces[0];
  pace.occupied = pace.resting = 1;
  EXPECT_FALSE(load.paces.AreThrough());
  pace.cursor = 1;
  EXPECT_TRUE(load.paces.AreThrough());
  ++pace.occupied;
  EXPECT_FALSE(load.paces.AreThrough());
}

TEST(Paces, GivesUpIfOnlyFailingServersAreLeft) {
  constexpr int64_t kLater = 10 * kNsPerSecond;
  UnderWay load(1000, 2, 2);
  load.Fail(0, 19);
  load.Fail(1, 1);
  EXPECT_EQ(load.paces.FailuresInVain(2 * kNsPerSecond), 0u);  // one server may be starting
  EXPECT_FALSE(load.paces.AreHopeless(2 * kNsPerSecond));
  EXPECT_EQ(load.paces.FailuresInVain(kLater), 20u);
  EXPECT_TRUE(load.paces.AreHopeless(kLater));
  load.paces[1].failures.Count(false, kLater);
  EXPECT_FALSE(load.paces.AreHopeless(kLater));
  // The other server works, but no request is left for it.
  load.Fail(0, 1);
  EXPECT_FALSE(load.paces.AreHopeless(kLater));
  load.paces[1].cursor = 1000;
  EXPECT_TRUE(load.paces.AreHopeless(kLater));
  load.paces[1].occupied = 1;
  EXPECT_FALSE(load.paces.AreHopeless(kLater));
}

TEST(Paces, AFewFailuresAreNoReasonToGiveUp) {
  UnderWay load(1000, 1, 1);
  load.Fail(0, 19);
  EXPECT_FALSE(load.paces.AreHopeless(100 * kNsPerSecond));
  load.Fail(0, 1);
  EXPECT_TRUE(load.paces.AreHopeless(100 * kNsPerSecond));
}

}  // namespace
}  // namespace tacho
