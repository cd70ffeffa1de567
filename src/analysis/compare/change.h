#pragma once

#include <cmath>
#include <optional>
#include <string>

namespace tacho {

// A figure before and after, with bounds for its difference; in ns unless the member that holds it
// says otherwise. A figure without bounds comes from a single measurement, so it is unknown whether
// its difference is more than noise.
struct Change {
  double base = 0, now = 0;
  std::optional<double> half_width;  // the bounds are difference() +- half_width

  [[nodiscard]] double difference() const { return now - base; }
  [[nodiscard]] bool IsBeyondNoise() const {
    return half_width && std::abs(difference()) > *half_width;
  }
  // The difference and its half-width as shares of `base`; absent if `base` is 0.
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
