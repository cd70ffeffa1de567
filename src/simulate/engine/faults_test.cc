#include "simulate/engine/faults.h"

#include <gtest/gtest.h>

namespace tacho::simulate {
namespace {

TEST(ParseFault, TakesWorkerAndArgument) {
  const auto fault = ParseFault("slow-flush@1:5s");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::kSlowFlush);
  EXPECT_EQ(fault->worker, 1);
  EXPECT_EQ(fault->amount, 5'000'000'000);
  EXPECT_EQ(ParseFault("lose-rank:1")->amount, 1);
  EXPECT_EQ(ParseFault("clock-skew")->amount, 3'000'000);
  EXPECT_EQ(ParseFault("clock-skew:-2ms")->amount, -2'000'000);
  EXPECT_FALSE(ParseFault("hang-stop")->worker);
}

TEST(ParseFault, SaysWhatIsWrong) {
  for (const char* text : {"", "bang", "slow-flush:soon", "slow-flush@x", "hang-stop:5s",
                           "lose-rank:1.5", "slow-flush@", "slow-flush:"}) {
    const auto fault = ParseFault(text);
    ASSERT_FALSE(fault) << text;
    EXPECT_EQ(fault.error().kind, ErrorKind::kUsage);
  }
  EXPECT_NE(ParseFault("bang").error().message.find("die-in-flush"), std::string::npos);
}

TEST(Faults, AreThoseOfTheWorker) {
  const Faults faults({*ParseFault("truncate@2"), *ParseFault("clock-drift:7")});
  EXPECT_TRUE(faults.Has(FaultKind::kTruncate, 2));
  EXPECT_FALSE(faults.Has(FaultKind::kTruncate, 1));
  EXPECT_EQ(faults.Amount(FaultKind::kClockDrift, 5), 7);
  EXPECT_EQ(faults.Amount(FaultKind::kClockSkew, 5, 11), 11);
}

TEST(RandomFault, IsOneOfTheKindsAndTheSameAgain) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Fault fault = RandomFault(seed, 4);
    ASSERT_TRUE(fault.worker);
    EXPECT_LT(*fault.worker, 4);
    EXPECT_EQ(TextOf(fault), TextOf(RandomFault(seed, 4)));
    EXPECT_TRUE(ParseFault(TextOf(fault))) << TextOf(fault);
  }
}

}  // namespace
}  // namespace tacho::simulate
