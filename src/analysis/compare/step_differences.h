#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/compare/run_noise.h"
#include "analysis/compare/step_samples.h"
#include "base/random.h"

namespace tacho {

// Percentiles of step times. The steps lie in blocks; a block may count several times or not at
// all.
class BlockPercentiles {
 public:
  void Add(double time, uint32_t block);
  void Finish(size_t blocks);
  // By nearest rank; NaN without any step. `counts`: by block, how often it counts. Cost:
  // proportional to the blocks, plus a hundredth of the steps.
  [[nodiscard]] double At(const std::vector<uint32_t>& counts, double share) const;

 private:
  static constexpr size_t kRungs = 100;
  std::vector<std::pair<double, uint32_t>> steps_;  // time and block, sorted
  size_t stride_ = 1;
  // By rung (every `stride_` steps): how many steps of each block lie before it.
  std::vector<std::vector<uint32_t>> before_;
  std::vector<uint32_t> of_blocks_;
};

// A group of batches that both sides have.
struct SharedBatch {
  double weight = 0;      // share of base's steps in such groups; all add up to 1
  double size_shift = 0;  // relative change of the mean size within it, new against base
};
using SharedBatches = std::map<StepBatch, SharedBatch>;

// The steps of one phase on both sides, and the bootstrap over them.
//
// Mean times are compared at equal batch: for each group of batches that both sides have (at least
// two steps on each), the difference of the means, weighted by the group's share of base's steps.
// The rest of the change of the mean of all steps comes from a different mix of batches.
class StepDifferences {
 public:
  // The figures after those of the parts in each array: the index is parts + Extra.
  enum Extra : uint32_t { kStepAtEqualBatch, kMeanOfAll, kMix, kP50, kP99, kExtras };

  StepDifferences(const SideSamples& base, const SideSamples& now, size_t parts);

  [[nodiscard]] const SharedBatches& batches() const { return batches_; }
  // By side: steps in these groups, and all steps of the phase.
  [[nodiscard]] const std::array<uint64_t, 2>& shared_steps() const { return shared_steps_; }
  [[nodiscard]] const std::array<uint64_t, 2>& steps() const { return steps_; }
  // Whether there are enough steps and blocks to estimate the noise.
  [[nodiscard]] bool enough() const;
  // The number of blocks of the side with fewer.
  [[nodiscard]] uint32_t fewest_blocks() const;

  // By figure: parts, then extras. kMix has 0 as its base. kP99 is NaN with too few steps.
  [[nodiscard]] const std::vector<double>& base() const { return base_; }
  [[nodiscard]] const std::vector<double>& now() const { return now_; }
  // By figure: how much a difference in the sizes within the groups may account for, if time grows
  // with size.
  [[nodiscard]] const std::vector<double>& from_sizes() const { return from_sizes_; }
  // By figure: the difference of each run to all of the other side. A run without steps in the
  // groups has no difference at equal batch.
  [[nodiscard]] std::vector<FigureOfRuns> FiguresOfRuns() const;
  // Variance of kStepAtEqualBatch if all rows were independent.
  [[nodiscard]] double independent_variance() const { return independent_variance_; }

  // Draws blocks with replacement, run by run. Returns for each draw the differences of the
  // figures. Deterministic; runs on all cores.
  [[nodiscard]] std::vector<std::vector<double>> Draw(size_t draws, uint64_t seed) const;

 private:
  struct Cell {  // the steps of one group in one block
    uint32_t group = 0;
    double steps = 0;
    std::vector<double> sums;  // by part; the last is the whole step
  };
  struct Side {
    std::vector<std::vector<Cell>> blocks;
    std::vector<uint32_t> first_block;
    BlockPercentiles by_time;
  };
  struct Figures {
    std::vector<double> base, now;
    bool at_equal_batch = false;  // some group has steps on both sides
  };
  // `counts`: by side, how often each block counts.
  [[nodiscard]] Figures FiguresOf(const std::array<std::vector<uint32_t>, 2>& counts) const;
  [[nodiscard]] std::vector<double> OneDraw(Random random) const;
  void Gather(size_t side, const SideSamples& samples);
  void WeighGroups(const SideSamples& base, const SideSamples& now);

  size_t parts_ = 0;
  std::map<StepBatch, uint32_t> groups_;  // all groups of either side
  SharedBatches batches_;
  std::vector<double> weight_of_group_;
  std::array<Side, 2> sides_;
  std::array<uint64_t, 2> steps_{}, shared_steps_{};
  std::vector<double> base_, now_, from_sizes_;
  double independent_variance_ = 0;
};

}  // namespace tacho
