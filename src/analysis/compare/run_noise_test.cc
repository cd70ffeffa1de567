#include "analysis/compare/run_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tacho {
namespace {

// Counts, among 500 families without a real difference, those with a figure outside its bounds.
// `unlike`: how much the noise of the figures differs (as a logarithm). `common`: the share of the
// noise that is one factor for the whole run.
template <typename Widths>
int FamiliesOutside(size_t figures, size_t base, size_t now, double unlike, double common,
                    const Widths& widths) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  int outside = 0;
  for (int family = 0; family < 500; ++family) {
    std::vector<FigureOfRuns> of_runs(figures);
    std::vector<double> noise;
    for (FigureOfRuns& figure : of_runs) {
      figure.size = std::exp(3 * normal(random));
      noise.push_back(0.03 * figure.size * std::exp(unlike * normal(random)));
    }
    for (size_t run = 0; run < base + now; ++run) {
      const double factor = common * normal(random);
      for (size_t i = 0; i < figures; ++i) {
        const double value =
            of_runs[i].size + noise[i] * (factor + std::sqrt(1 - common * common) * normal(random));
        (run < base ? of_runs[i].base : of_runs[i].now).push_back(value);
      }
    }
    const auto half_widths = widths(of_runs);
    bool any = false;
    for (size_t i = 0; i < figures; ++i) {
      const auto mean = [](const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values) sum += value;
        return sum / static_cast<double>(values.size());
      };
      any |= std::abs(mean(of_runs[i].now) - mean(of_runs[i].base)) > *half_widths[i];
    }
    outside += any ? 1 : 0;
  }
  return outside;
}

TEST(HalfWidthsOverRuns, HoldForAllFiguresTogether) {
  for (const size_t figures : {4u, 25u, 112u}) {
    for (const size_t runs : {2u, 3u, 5u}) {
      for (const double unlike : {0.0, 1.0}) {
        for (const double common : {0.0, 0.9})
          EXPECT_LE(FamiliesOutside(figures, runs, runs, unlike, common, HalfWidthsOverRuns), 20)
              << figures << " figures, " << runs << " runs, " << unlike << ", " << common;
      }
    }
  }
  const auto each_alone = [](const std::vector<FigureOfRuns>& figures) {
    std::vector<std::optional<double>> widths;
    for (const FigureOfRuns& figure : figures)
      widths.push_back(HalfWidthOverRuns(figure.base, figure.now));
    return widths;
  };
  EXPECT_GE(FamiliesOutside(25, 3, 3, 0, 0, each_alone), 75);
}

// `median`: median width of the bounds in standard errors of the difference, where the true noise
// is known. `found`: how often a change of one figure by `change` such errors is detected.
struct Power {
  double median = 0, found = 0;
};
Power PowerOf(size_t figures, size_t runs, double unlike, double change) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<double> ratios;
  int found = 0;
  constexpr int kFamilies = 300;
  for (int family = 0; family < kFamilies; ++family) {
    std::vector<FigureOfRuns> of_runs(figures);
    std::vector<double> errors;
    for (FigureOfRuns& figure : of_runs) {
      figure.size = std::exp(3 * normal(random));
      const double noise = 0.03 * figure.size * std::exp(unlike * normal(random));
      errors.push_back(noise * std::sqrt(2 / static_cast<double>(runs)));
      const double changed = figure.size + (errors.size() == 1 ? change * errors[0] : 0);
      for (size_t run = 0; run < runs; ++run) {
        figure.base.push_back(figure.size + noise * normal(random));
        figure.now.push_back(changed + noise * normal(random));
      }
    }
    const auto widths = HalfWidthsOverRuns(of_runs);
    double difference = 0;
    for (size_t run = 0; run < runs; ++run)
      difference += (of_runs[0].now[run] - of_runs[0].base[run]) / static_cast<double>(runs);
    found += difference > *widths[0] ? 1 : 0;
    for (size_t i = 0; i < figures; ++i) ratios.push_back(*widths[i] / errors[i]);
  }
  std::ranges::nth_element(ratios, ratios.begin() + std::ssize(ratios) / 2);
  return {ratios[ratios.size() / 2], static_cast<double>(found) / kFamilies};
}

TEST(HalfWidthsOverRuns, AreNoWiderThanTheNoiseAsks) {
  struct Case {
    size_t figures, runs;
    double unlike, most;
  };
  // With only two runs, or with unlike figures, each variance is less certain. Judged by each
  // figure alone, without the common part, the median of the second case would be 59.
  for (const Case& one :
       {Case{4, 3, 0, 5}, {25, 2, 0, 10}, {25, 3, 0, 5}, {25, 3, 1, 10}, {112, 5, 1, 8}}) {
    const Power power = PowerOf(one.figures, one.runs, one.unlike, 2 * one.most);
    EXPECT_LE(power.median, one.most) << one.figures << " figures, " << one.runs << " runs";
    EXPECT_GE(power.found, 0.9) << one.figures << " figures, " << one.runs << " runs";
  }
}

TEST(HalfWidthsOverRuns, AreThoseOfAFigureAloneOrWider) {
  const std::vector<FigureOfRuns> figures = {{{1, 2, 3}, {4, 5}, 3}, {{7, 7, 7}, {7, 7}, 7},
                                             {{}, {1, 2}, 1},        {{0, 0}, {0, 0}, 0},
                                             {{1, 1.5}, {1, 9}, 2},  {{2, 2}, {2, 2.1}, 2}};
  const auto widths = HalfWidthsOverRuns(figures);
  ASSERT_EQ(widths.size(), figures.size());
  for (size_t i = 0; i < figures.size(); ++i) {
    const auto alone = HalfWidthOverRuns(figures[i].base, figures[i].now);
    ASSERT_EQ(widths[i].has_value(), alone.has_value());
    if (alone) {
      EXPECT_GE(*widths[i], *alone);
    }
  }
  // A figure that happens to be equal in all runs is treated as noisy as the others.
  EXPECT_GT(*widths[1], 0.1);
  EXPECT_EQ(*widths[3], 0);
  EXPECT_TRUE(HalfWidthsOverRuns({}).empty());
}

TEST(HalfWidthOverRuns, IsStudentsT) {
  // The variance of one run is 1, with three degrees of freedom and t(0.995) = 5.841.
  EXPECT_NEAR(*HalfWidthOverRuns(std::vector<double>{1, 2, 3}, std::vector<double>{5, 6.41421356}),
              5.841 * std::sqrt(1.0 / 3 + 1.0 / 2), 1e-3);
  EXPECT_FALSE(HalfWidthOverRuns(std::vector<double>{1}, std::vector<double>{2}));
  EXPECT_FALSE(HalfWidthOverRuns({}, std::vector<double>{2, 3, 4}));
}

}  // namespace
}  // namespace tacho
