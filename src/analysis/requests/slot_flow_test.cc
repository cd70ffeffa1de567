#include "analysis/requests/slot_flow.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "base/random.h"

namespace tacho {
namespace {

using Slot = SlotProblem::Slot;

// All assignments of a problem, one by one: what each run leaves in each of its slots.
class BruteForce {
 public:
  explicit BruteForce(const SlotProblem& problem) : problem_(problem) {
    in_slot_.assign(problem.slots.size(), 0);
    seen.resize(problem.placed.size());
    needed.assign(problem.runs.size(), true);
    StartRun(0);
  }
  size_t assignments = 0;
  std::vector<std::optional<CountBounds>> seen;  // by entry of `placed`
  std::vector<bool> needed;                      // by run: one of its slots always has a token

 private:
  void StartRun(size_t run) {
    if (run == problem_.runs.size()) return Take();
    const CountBounds& before = problem_.placed[problem_.runs[run].placed];
    for (int32_t placed = before.least; placed <= before.most; ++placed) {
      placed_.push_back(placed);
      Next(run, 0, placed);
      placed_.pop_back();
    }
  }
  void Next(size_t run, uint32_t at, int32_t placed) {
    const SlotProblem::Run& of = problem_.runs[run];
    if (at == of.slots) return StartRun(run + 1);
    const Slot& slot = problem_.slots[of.first_slot + at];
    for (int32_t left = 0; left <= slot.most_of_one; ++left) {
      const CountBounds& bounds = problem_.placed[of.placed + at + 1];
      if (placed + left < bounds.least || placed + left > bounds.most) continue;
      if (in_slot_[of.first_slot + at] + left > slot.tokens.most) continue;
      in_slot_[of.first_slot + at] += left;
      placed_.push_back(placed + left);
      Next(run, at + 1, placed + left);
      placed_.pop_back();
      in_slot_[of.first_slot + at] -= left;
    }
  }
  void Take() {
    for (size_t slot = 0; slot < in_slot_.size(); ++slot) {
      if (in_slot_[slot] < problem_.slots[slot].tokens.least) return;
    }
    ++assignments;
    for (size_t i = 0; i < placed_.size(); ++i) {
      if (!seen[i]) seen[i] = CountBounds{placed_[i], placed_[i]};
      seen[i]->least = std::min(seen[i]->least, placed_[i]);
      seen[i]->most = std::max(seen[i]->most, placed_[i]);
    }
  }

  const SlotProblem& problem_;
  std::vector<int32_t> in_slot_, placed_;
};

// Runs of up to 3 tokens whose ranges are random.
SlotProblem RandomProblem(Random& random) {
  SlotProblem problem;
  const auto slots = random.Between(1, 5);
  for (int64_t i = 0; i < slots; ++i) {
    const auto most = static_cast<int32_t>(random.Between(0, 3));
    const auto least = random.Below(3) == 0 ? 0 : static_cast<int32_t>(random.Between(0, most));
    problem.slots.push_back(
        {{random.Below(2) == 0 ? most : least, most}, random.Below(5) == 0 ? 2 : 1});
  }
  const auto runs = random.Between(1, 4);
  for (int64_t i = 0; i < runs; ++i) {
    const auto first = random.Between(0, slots - 1), last = random.Between(first, slots - 1);
    problem.runs.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(last - first + 1),
                            problem.placed.size(), false});
    CountBounds bounds{0, random.Below(4) == 0 ? 1 : 0};
    problem.placed.push_back(bounds);
    for (int64_t slot = first; slot <= last; ++slot) {
      const int64_t one = problem.slots[static_cast<size_t>(slot)].most_of_one;
      bounds.most += static_cast<int32_t>(random.Below(2));
      bounds.least += static_cast<int32_t>(
          std::min<int64_t>(random.Between(0, one), bounds.most - bounds.least));
      problem.placed.push_back(bounds);
    }
  }
  return problem;
}

TEST(SlotFlow, FindsWhatAllAssignmentsShare) {
  Random random(33);
  size_t fit = 0, fixed = 0, open = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    const SlotProblem given = RandomProblem(random);
    SlotProblem problem = given;
    const BruteForce all(given);
    const SlotFit found = SolveSlots(problem, 1'000'000);
    ASSERT_EQ(found == SlotFit::kFits, all.assignments > 0) << trial;
    if (found != SlotFit::kFits) continue;
    ++fit;
    for (size_t i = 0; i < problem.placed.size(); ++i) {
      const CountBounds &narrowed = problem.placed[i], &true_bounds = *all.seen[i];
      EXPECT_LE(narrowed.least, true_bounds.least) << trial << " " << i;
      EXPECT_GE(narrowed.most, true_bounds.most) << trial << " " << i;
      EXPECT_EQ(narrowed.fixed(), true_bounds.fixed()) << trial << " " << i;
      ++(narrowed.fixed() ? fixed : open);
    }
  }
  EXPECT_GT(fit, 3'000u);
  EXPECT_GT(fixed, 3'000u);
  EXPECT_GT(open, 3'000u);
}

// A flow between its bounds can grow and shrink, and is fixed all the same if nothing else can
// make up for it.
TEST(SlotFlow, ACountBetweenItsBoundsMayBeFixed) {
  SlotProblem problem{{{{1, 1}, 2}, {{1, 1}, 2}}, {{0, 2, 0, false}}, {{0, 0}, {0, 2}, {2, 2}}};
  ASSERT_EQ(SolveSlots(problem, 1000), SlotFit::kFits);
  EXPECT_EQ(problem.placed[1], (CountBounds{1, 1}));
  EXPECT_TRUE(problem.runs[0].needed);
}

// The sweep gives the only token that could be in the last slot to the first one: the deadlines are
// equal, so it takes the run that comes first.
TEST(SlotFlow, WorkIsBounded) {
  const SlotProblem given{{{{1, 1}, 1}, {{1, 1}, 1}},
                          {{0, 2, 0, false}, {0, 1, 3, false}},
                          {{0, 0}, {0, 1}, {1, 1}, {0, 0}, {0, 1}}};
  SlotProblem problem = given;
  EXPECT_EQ(SolveSlots(problem, 1), SlotFit::kTooMuch);
  EXPECT_EQ(problem.placed, given.placed);
  EXPECT_EQ(SolveSlots(problem, 1'000), SlotFit::kFits);
  EXPECT_EQ(problem.placed[1], (CountBounds{0, 0}));
  EXPECT_TRUE(problem.runs[0].needed);
  EXPECT_TRUE(problem.runs[1].needed);
}

}  // namespace
}  // namespace tacho
