#pragma once

#include <cmath>
#include <optional>
#include <string>

namespace tacho {

// A figure before and after, in ns unless the member that holds it says otherwise, with bounds of
// the difference. A figure without bounds comes from a single measurement: whether it differs is
// unknown.
struct Change {
  double base = 0, now = 0;
  std::optional<double> half_width;  // half-width of the bounds of the difference

  [[nodiscard]] double difference() const { return now - base; }
  [[nodiscard]] bool IsBeyondNoise() const {
    return half_width && std::abs(difference()) > *half_width;
  }
  // As shares of `base`; absent if `base` is 0.
  [[nodiscard]] std::optional<double> relative() const { return ShareOfBase(difference()); }
  [[nodiscard]] std::optional<double> relative_half_width() const {
    return half_width ? ShareOfBase(*half_width) : std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<double> ShareOfBase(double value) const {
    return base == 0 ? std::nullopt : std::optional(value / base);
  }
};

}  // namespace tacho
