#include "load/plan/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "load/plan/kolmogorov_for_test.h"

namespace tacho {
namespace {

std::vector<double> Times(const ArrivalOptions& options, size_t count, uint64_t seed = 1) {
  Arrivals arrivals(options, seed);
  std::vector<double> times;
  for (size_t i = 0; i < count; ++i) times.push_back(static_cast<double>(arrivals.NextNs()) / 1e9);
  return times;
}

std::vector<double> Gaps(const std::vector<double>& times) {
  std::vector<double> gaps = {times[0]};
  for (size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  return gaps;
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double VariationOf(const std::vector<double>& values) {
  const double mean = MeanOf(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size())) / mean;
}

TEST(Arrivals, GapsOfAPoissonProcessAreExponential) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const auto gaps = Gaps(Times({.rate = 20}, 20'000, seed));
    EXPECT_LT(KolmogorovOf(gaps, [](double gap) { return 1 - std::exp(-20 * gap); }), kOneInHundred)
        << seed;
  }
}

TEST(Arrivals, CountsOfAPoissonProcessAreIndependentOfWhenOneLooks) {
  // The number of arrivals is fixed, so their times are evenly spread.
  const auto times = Times({.rate = 100}, 10'000);
  const double end = times.back();
  EXPECT_LT(KolmogorovOf(times, [&](double at) { return at / end; }), kOneInHundred);
}

TEST(Arrivals, BurstinessIsTheShapeOfTheGaps) {
  // Shape 1/2: a gap is half the square of a normal variable; its distribution is an error
  // function. Shape 2: 1 - e^-x (1 + x).
  const auto bursty = Gaps(Times({.rate = 1, .burstiness = 0.5}, 20'000));
  EXPECT_LT(KolmogorovOf(bursty, [](double gap) { return std::erf(std::sqrt(gap / 2)); }),
            kOneInHundred);
  const auto even = Gaps(Times({.rate = 1, .burstiness = 2}, 20'000));
  EXPECT_LT(KolmogorovOf(even, [](double gap) { return 1 - std::exp(-2 * gap) * (1 + 2 * gap); }),
            kOneInHundred);
  EXPECT_NEAR(MeanOf(bursty), 1, 0.03);
  EXPECT_NEAR(VariationOf(bursty), std::sqrt(2), 0.05);
  EXPECT_NEAR(VariationOf(Gaps(Times({.rate = 1, .burstiness = 0.1}, 50'000))), std::sqrt(10),
              0.15);
}

TEST(Arrivals, EvenGapsDoNotDrift) {
  const auto times =
      Times({.rate = 300, .burstiness = std::numeric_limits<double>::infinity()}, 90'000);
  for (size_t i = 0; i < times.size(); ++i) {
    ASSERT_NEAR(times[i], static_cast<double>(i + 1) / 300, 1e-8) << i;
  }
}

TEST(Arrivals, ALinearRampReachesItsRate) {
  const Ramp ramp{RampShape::kLinear, 10, 110, 100};
  const auto times = Times({.ramp = ramp}, 8000);
  // 6000 requests in the ramp, then 110 a second.
  const auto within = std::lower_bound(times.begin(), times.end(), 100.0) - times.begin();
  EXPECT_NEAR(static_cast<double>(within), 6000, 3 * std::sqrt(6000));
  std::vector<double> inside(times.begin(), times.begin() + within);
  EXPECT_LT(KolmogorovOf(inside, [](double at) { return (10 * at + at * at / 2) / 6000; }),
            kOneInHundred);
  EXPECT_NEAR(static_cast<double>(8000 - within) / (times.back() - 100), 110, 10);
}

TEST(Arrivals, AnExponentialRampReachesItsRate) {
  const Ramp ramp{RampShape::kExponential, 5, 80, 60};
  const double growth = std::log(16.0) / 60, in_ramp = (80 - 5) / growth;
  const auto times = Times({.ramp = ramp}, 1500);
  std::vector<double> inside(times.begin(), std::lower_bound(times.begin(), times.end(), 60.0));
  EXPECT_NEAR(static_cast<double>(std::min<size_t>(inside.size(), 1500)), std::min(in_ramp, 1500.0),
              3 * std::sqrt(in_ramp));
  const double last = inside.back();
  const auto area = [&](double at) { return 5 * std::expm1(growth * at) / growth; };
  EXPECT_LT(KolmogorovOf(inside, [&](double at) { return area(at) / area(last); }), kOneInHundred);
}

TEST(Arrivals, ARampOverANumberOfRequestsTakesThatLong) {
  EXPECT_DOUBLE_EQ(RampSeconds(RampShape::kLinear, 10, 30, 200), 10);
  EXPECT_DOUBLE_EQ(RampSeconds(RampShape::kLinear, 20, 20, 200), 10);
  EXPECT_DOUBLE_EQ(RampSeconds(RampShape::kExponential, 20, 20, 200), 10);
  EXPECT_NEAR(RampSeconds(RampShape::kExponential, 1, std::exp(1), std::exp(1) - 1), 1, 1e-12);
}

}  // namespace
}  // namespace tacho
