#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tacho::simulate {

// A histogram with Prometheus's bounds. Each bucket counts the values at or below its bound that
// are above the bound before it.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds.begin(), bounds.end()), counts_(bounds.size() + 1) {}

  void Observe(double value) {
    const auto place = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
    ++counts_[static_cast<size_t>(place)];
    sum_ += value;
    ++count_;
  }
  const std::vector<double>& bounds() const { return bounds_; }
  // How many values are in the bucket with the upper bound bounds()[i]; the last bucket has no
  // bound.
  uint64_t in_bucket(size_t i) const { return counts_[i]; }
  uint64_t count() const { return count_; }
  double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace tacho::simulate
