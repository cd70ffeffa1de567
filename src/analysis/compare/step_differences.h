#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/compare/run_noise.h"
#include "analysis/compare/step_samples.h"
#include "base/random.h"

namespace tacho {

// Percentiles of step times, for a bootstrap: each step is in a block, and each block may count
// several times or not at all.
class BlockPercentiles {
 public:
  void Add(double time, uint32_t block);
  void Finish(size_t blocks);
  // The percentile `share` (0..1) by nearest rank; NaN without any step. `counts`: by block, how
  // often it counts. Cost: O(blocks + steps / 100).
  [[nodiscard]] double At(const std::vector<uint32_t>& counts, double share) const;

 private:
  static constexpr size_t kRungs = 100;
  std::vector<std::pair<double, uint32_t>> steps_;  // time and block of each step, sorted by time
  size_t stride_ = 1;
  // A rung is every `stride_`-th step. By rung, then block: the number of steps before the rung.
  std::vector<std::vector<uint32_t>> before_;
  std::vector<uint32_t> of_blocks_;  // by block: its number of steps
};

// A group of batches that both sides have.
struct SharedBatch {
  double weight = 0;      // its share of base's steps in all such groups; these add up to 1
  double size_shift = 0;  // by how much the mean batch size in it differs, as a share of base's
};
using SharedBatches = std::map<StepBatch, SharedBatch>;

// The steps of one phase on both sides, and the bootstrap over them.
//
// Mean times are compared at equal batch. For each group of batches with at least two steps on each
// side, the difference of the means is taken, weighted by the group's share of base's steps, and
// summed. The rest of the difference between the means of all steps comes from a changed mix of
// batches (kMix).
class StepDifferences {
 public:
  // The arrays of figures below have one figure for each part, then the following ones. Figure
  // `extra` has the index parts + extra.
  enum Extra : uint32_t { kStepAtEqualBatch, kMeanOfAll, kMix, kP50, kP99, kExtras };

  StepDifferences(const SideSamples& base, const SideSamples& now, size_t parts);

  [[nodiscard]] const SharedBatches& batches() const { return batches_; }
  // By side: the number of steps in the groups of batches(), and of all steps of the phase.
  [[nodiscard]] const std::array<uint64_t, 2>& shared_steps() const { return shared_steps_; }
  [[nodiscard]] const std::array<uint64_t, 2>& steps() const { return steps_; }
  // Whether there are enough steps and blocks to estimate the noise.
  [[nodiscard]] bool enough() const;
  // The number of blocks of the side with fewer.
  [[nodiscard]] uint32_t fewest_blocks() const;

  // By figure (parts, then Extra): its value on each side. kMix is 0 in base(). kP99 is NaN with
  // too few steps.
  [[nodiscard]] const std::vector<double>& base() const { return base_; }
  [[nodiscard]] const std::vector<double>& now() const { return now_; }
  // By figure: how much of its difference may come from different batch sizes within the groups, if
  // time grows with the size.
  [[nodiscard]] const std::vector<double>& from_sizes() const { return from_sizes_; }
  // By figure: the difference between each run and all runs of the other side. At equal batch, runs
  // without steps in the groups are left out.
  [[nodiscard]] std::vector<FigureOfRuns> FiguresOfRuns() const;
  // The variance that kStepAtEqualBatch would have if all steps were independent.
  [[nodiscard]] double independent_variance() const { return independent_variance_; }

  // Draws blocks with replacement, run by run. Returns the differences of the figures for each
  // draw. Deterministic; runs on all cores.
  [[nodiscard]] std::vector<std::vector<double>> Draw(size_t draws, uint64_t seed) const;

 private:
  struct Cell {  // the steps of one group in one block
    uint32_t group = 0;
    double steps = 0;
    std::vector<double> sums;  // time by part; the last entry is the whole step
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
