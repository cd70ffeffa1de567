#include "analysis/compare/step_differences.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/compare/run_changes.h"
#include "base/parallel.h"

namespace tacho {
namespace {

constexpr uint32_t kFewestBlocks = 4;  // needed on each side

}  // namespace

void BlockPercentiles::Add(double time, uint32_t block) { steps_.emplace_back(time, block); }

void BlockPercentiles::Finish(size_t blocks) {
  std::ranges::sort(steps_);
  stride_ = std::max<size_t>(1, steps_.size() / kRungs);
  std::vector<uint32_t> so_far(blocks);
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (i % stride_ == 0) before_.push_back(so_far);
    ++so_far[steps_[i].second];
  }
  of_blocks_ = std::move(so_far);
}

double BlockPercentiles::At(const std::vector<uint32_t>& counts, double share) const {
  const auto times_counts = [&](const std::vector<uint32_t>& steps) {
    uint64_t sum = 0;
    for (size_t block = 0; block < steps.size(); ++block)
      sum += uint64_t{steps[block]} * counts[block];
    return sum;
  };
  const uint64_t all = times_counts(of_blocks_);
  const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(all)));
  // Finds the last rung with fewer steps before it than `wanted`.
  const auto above = std::ranges::partition_point(
      before_, [&](const std::vector<uint32_t>& rung) { return times_counts(rung) < wanted; });
  if (above == before_.begin()) return std::numeric_limits<double>::quiet_NaN();
  const auto rung = static_cast<size_t>(above - before_.begin()) - 1;
  uint64_t reached = times_counts(before_[rung]);
  for (size_t i = rung * stride_; i < steps_.size(); ++i) {
    reached += counts[steps_[i].second];
    if (reached >= wanted) return steps_[i].first;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

StepDifferences::StepDifferences(const SideSamples& base, const SideSamples& now, size_t parts)
    : parts_(parts) {
  for (const SideSamples* side : {&base, &now}) {
    for (const StepSample& sample : side->samples) groups_.emplace(sample.batch, 0);
  }
  uint32_t number = 0;
  for (auto& [batch, group] : groups_) group = number++;
  WeighGroups(base, now);
  Gather(0, base);
  Gather(1, now);
  Figures figures = FiguresOf({std::vector<uint32_t>(sides_[0].blocks.size(), 1),
                               std::vector<uint32_t>(sides_[1].blocks.size(), 1)});
  base_ = std::move(figures.base);
  now_ = std::move(figures.now);
}

bool StepDifferences::enough() const {
  return std::ranges::min(shared_steps_) >= kFewestSteps && fewest_blocks() >= kFewestBlocks;
}

uint32_t StepDifferences::fewest_blocks() const {
  return static_cast<uint32_t>(std::min(sides_[0].blocks.size(), sides_[1].blocks.size()));
}

void StepDifferences::WeighGroups(const SideSamples& base, const SideSamples& now) {
  struct Of {
    double n = 0, size = 0, time = 0, squares = 0;
    std::vector<double> sums;
  };
  std::vector<std::array<Of, 2>> of(groups_.size());
  for (size_t side = 0; side < 2; ++side) {
    const std::vector<StepSample>& samples = (side == 0 ? base : now).samples;
    steps_[side] = samples.size();
    for (const StepSample& sample : samples) {
      Of& group = of[groups_.at(sample.batch)][side];
      group.n += 1;
      group.size += sample.size;
      group.time += sample.ns.back();
      group.squares += sample.ns.back() * sample.ns.back();
      group.sums.resize(parts_ + 1);
      for (size_t part = 0; part <= parts_; ++part) group.sums[part] += sample.ns[part];
    }
  }
  double all = 0;
  for (const auto& [batch, group] : groups_) {
    const auto& [b, n] = of[group];
    if (b.n < 2 || n.n < 2) continue;
    batches_[batch].weight = b.n;
    all += b.n;
    shared_steps_[0] += static_cast<uint64_t>(b.n);
    shared_steps_[1] += static_cast<uint64_t>(n.n);
  }
  weight_of_group_.assign(groups_.size(), 0);
  from_sizes_.assign(parts_ + kExtras, 0);
  for (auto& [batch, shared] : batches_) {
    const double weight = shared.weight /= all;
    const uint32_t group = groups_.at(batch);
    weight_of_group_[group] = weight;
    for (const Of& side : of[group]) {
      const double mean = side.time / side.n;
      const double variance = std::max(0.0, side.squares - side.n * mean * mean) / (side.n - 1);
      independent_variance_ += weight * weight * variance / side.n;
    }
    const auto& [b, n] = of[group];
    if (b.size <= 0) continue;
    shared.size_shift = std::abs(n.size / n.n * b.n / b.size - 1);
    for (size_t part = 0; part < parts_; ++part)
      from_sizes_[part] += weight * shared.size_shift * b.sums[part] / b.n;
    from_sizes_[parts_ + kStepAtEqualBatch] += weight * shared.size_shift * b.sums[parts_] / b.n;
  }
  from_sizes_[parts_ + kMix] = from_sizes_[parts_ + kStepAtEqualBatch];
}

void StepDifferences::Gather(size_t side, const SideSamples& samples) {
  Side& into = sides_[side];
  into.first_block = samples.first_block;
  into.blocks.resize(samples.blocks());
  for (const StepSample& sample : samples.samples) {
    std::vector<Cell>& cells = into.blocks[sample.block];
    const uint32_t group = groups_.at(sample.batch);
    auto cell = std::ranges::find(cells, group, &Cell::group);
    if (cell == cells.end()) {
      cells.push_back({group, 0, std::vector<double>(parts_ + 1)});
      cell = cells.end() - 1;
    }
    cell->steps += 1;
    for (size_t part = 0; part <= parts_; ++part) cell->sums[part] += sample.ns[part];
    into.by_time.Add(sample.ns.back(), sample.block);
  }
  into.by_time.Finish(samples.blocks());
}

StepDifferences::Figures StepDifferences::FiguresOf(
    const std::array<std::vector<uint32_t>, 2>& counts) const {
  const size_t width = parts_ + 1;
  std::array<std::vector<double>, 2> steps, sums;
  Figures figures{std::vector<double>(parts_ + kExtras), std::vector<double>(parts_ + kExtras),
                  false};
  for (size_t side = 0; side < 2; ++side) {
    steps[side].resize(groups_.size());
    sums[side].resize(groups_.size() * width);
    const auto& blocks = sides_[side].blocks;
    for (size_t block = 0; block < blocks.size(); ++block) {
      const double times = counts[side][block];
      if (times == 0) continue;
      for (const Cell& cell : blocks[block]) {
        steps[side][cell.group] += times * cell.steps;
        for (size_t part = 0; part < width; ++part)
          sums[side][cell.group * width + part] += times * cell.sums[part];
      }
    }
    double all = 0, time = 0;
    for (size_t group = 0; group < groups_.size(); ++group) {
      all += steps[side][group];
      time += sums[side][group * width + parts_];
    }
    std::vector<double>& of_side = side == 0 ? figures.base : figures.now;
    of_side[parts_ + kMeanOfAll] = all == 0 ? 0 : time / all;
    of_side[parts_ + kP50] = sides_[side].by_time.At(counts[side], 0.5);
    of_side[parts_ + kP99] = std::ranges::min(steps_) < kFewestForP99
                                 ? std::numeric_limits<double>::quiet_NaN()
                                 : sides_[side].by_time.At(counts[side], 0.99);
  }
  double weighed = 0;
  for (size_t group = 0; group < groups_.size(); ++group) {
    // A bootstrap draw may contain no step of a rare group.
    if (weight_of_group_[group] == 0 || steps[0][group] == 0 || steps[1][group] == 0) continue;
    weighed += weight_of_group_[group];
    for (size_t part = 0; part < width; ++part) {
      const size_t at = group * width + part;
      figures.base[part] += weight_of_group_[group] * sums[0][at] / steps[0][group];
      figures.now[part] += weight_of_group_[group] * sums[1][at] / steps[1][group];
    }
  }
  figures.at_equal_batch = weighed > 0;
  for (size_t part = 0; part < width && weighed > 0; ++part) {
    figures.base[part] /= weighed;
    figures.now[part] /= weighed;
  }
  static_assert(kStepAtEqualBatch == 0, "the whole step comes right after its parts");
  figures.now[parts_ + kMix] =
      figures.now[parts_ + kMeanOfAll] - figures.base[parts_ + kMeanOfAll] -
      (figures.now[parts_ + kStepAtEqualBatch] - figures.base[parts_ + kStepAtEqualBatch]);
  return figures;
}

std::vector<FigureOfRuns> StepDifferences::FiguresOfRuns() const {
  std::vector<FigureOfRuns> of_runs(base_.size());
  for (size_t i = 0; i < of_runs.size(); ++i)
    of_runs[i].size = (std::abs(base_[i]) + std::abs(now_[i])) / 2;
  for (size_t side = 0; side < 2; ++side) {
    const std::vector<uint32_t>& first = sides_[side].first_block;
    for (size_t run = 0; run + 1 < first.size(); ++run) {
      if (first[run] == first[run + 1]) continue;
      // Of this side only this run counts, of the other side all runs.
      std::array<std::vector<uint32_t>, 2> counts = {
          std::vector<uint32_t>(sides_[0].blocks.size(), 1),
          std::vector<uint32_t>(sides_[1].blocks.size(), 1)};
      std::ranges::fill(counts[side], 0);
      std::fill(counts[side].begin() + first[run], counts[side].begin() + first[run + 1], 1);
      const Figures figures = FiguresOf(counts);
      for (size_t i = 0; i < of_runs.size(); ++i) {
        const bool at_equal_batch = i <= parts_ + kStepAtEqualBatch || i == parts_ + kMix;
        const double difference = figures.now[i] - figures.base[i];
        if (std::isnan(difference) || (at_equal_batch && !figures.at_equal_batch)) continue;
        (side == 0 ? of_runs[i].base : of_runs[i].now).push_back(difference);
      }
    }
  }
  return of_runs;
}

std::vector<std::vector<double>> StepDifferences::Draw(size_t draws, uint64_t seed) const {
  constexpr size_t kAtOnce = 64;
  std::vector<std::vector<double>> drawn(draws);
  ParallelFor((draws + kAtOnce - 1) / kAtOnce, 0, [&](size_t chunk) {
    for (size_t draw = chunk * kAtOnce; draw < std::min(draws, (chunk + 1) * kAtOnce); ++draw)
      drawn[draw] = OneDraw(Random(seed, draw));
  });
  return drawn;
}

std::vector<double> StepDifferences::OneDraw(Random random) const {
  std::array<std::vector<uint32_t>, 2> counts;
  for (size_t side = 0; side < 2; ++side) {
    counts[side].resize(sides_[side].blocks.size());
    const std::vector<uint32_t>& first = sides_[side].first_block;
    for (size_t run = 0; run + 1 < first.size(); ++run) {
      const uint32_t blocks = first[run + 1] - first[run];
      for (uint32_t i = 0; i < blocks; ++i) ++counts[side][first[run] + random.Below(blocks)];
    }
  }
  const Figures figures = FiguresOf(counts);
  std::vector<double> differences;
  for (size_t i = 0; i < figures.base.size(); ++i)
    differences.push_back(figures.now[i] - figures.base[i]);
  return differences;
}

}  // namespace tacho
