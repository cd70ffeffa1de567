#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"

namespace tacho {

enum class RampShape { kLinear, kExponential };

// A rate that changes from one value to another over some time, and then stays.
struct Ramp {
  RampShape shape = RampShape::kLinear;
  double from_rate = 0, to_rate = 0;  // requests a second
  double over_s = 0;
};

struct ArrivalOptions {
  double rate = 1;        // requests a second; ignored with a ramp
  double burstiness = 1;  // shape of the gamma distributed gaps: 1 Poisson, infinity even gaps
  std::optional<Ramp> ramp = {};
};

// The send times of an open loop, in order, from 0: a gamma renewal process of rate 1, scaled by
// the rate. With a ramp, a time of the process becomes the time at which the integral of the rate
// reaches it. Times are sums, so nothing drifts; they are not rescaled to hit a total.
class Arrivals {
 public:
  Arrivals(const ArrivalOptions& options, uint64_t seed);
  int64_t NextNs();

 private:
  double TimeOf(double requests) const;

  const ArrivalOptions options_;
  Random random_;
  double requests_ = 0;  // so far, in a load of rate 1
};

// The duration of a ramp over `requests` requests.
double RampSeconds(RampShape shape, double from_rate, double to_rate, double requests);

}  // namespace tacho
