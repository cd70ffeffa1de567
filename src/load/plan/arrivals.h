#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"

namespace tacho {

enum class RampShape { kLinear, kExponential };

// A request rate that changes from one value to another over some time, and then stays.
struct Ramp {
  RampShape shape = RampShape::kLinear;
  double from_rate = 0, to_rate = 0;  // requests per second
  double over_s = 0;
};

struct ArrivalOptions {
  double rate = 1;  // requests per second; ignored if there is a ramp
  // Shape of the gamma distribution of the gaps: 1 for Poisson arrivals, infinity for even gaps.
  double burstiness = 1;
  std::optional<Ramp> ramp = {};
};

// The send times of an open loop, in order, starting at 0. They come from a gamma renewal process
// with rate 1 (one request per unit of time), whose times are divided by the requested rate. With a
// ramp, a time x of that process becomes the time at which the integral of the rate over time
// reaches x. The times are not rescaled to reach a given total.
class Arrivals {
 public:
  Arrivals(const ArrivalOptions& options, uint64_t seed);
  int64_t NextNs();

 private:
  double TimeOf(double requests) const;

  const ArrivalOptions options_;
  Random random_;
  double requests_ = 0;  // time so far of the process with rate 1
};

// How long a ramp takes to send `requests` requests.
double RampSeconds(RampShape shape, double from_rate, double to_rate, double requests);

}  // namespace tacho
