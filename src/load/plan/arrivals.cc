#include "load/plan/arrivals.h"

#include <cmath>

namespace tacho {
namespace {

constexpr uint64_t kArrivalStream = 1;

}  // namespace

Arrivals::Arrivals(const ArrivalOptions& options, uint64_t seed)
    : options_(options), random_(seed, kArrivalStream) {}

int64_t Arrivals::NextNs() {
  const double shape = options_.burstiness;
  if (std::isinf(shape)) {
    requests_ += 1;
  } else if (shape == 1) {
    requests_ += random_.Exponential();
  } else {
    requests_ += random_.Gamma(shape) / shape;
  }
  const double at_s = TimeOf(requests_);
  constexpr double kMostS = 1e9;
  return std::llround(std::fmin(at_s, kMostS) * 1e9);
}

double Arrivals::TimeOf(double requests) const {
  if (!options_.ramp) return requests / options_.rate;
  const Ramp& ramp = *options_.ramp;
  const double from = ramp.from_rate, to = ramp.to_rate, over = ramp.over_s;
  const bool even = from == to;
  const double logs = ramp.shape == RampShape::kExponential && !even ? std::log(to / from) : 0;
  const double in_ramp = logs != 0 ? (to - from) * over / logs : (from + to) / 2 * over;
  if (requests >= in_ramp) return over + (requests - in_ramp) / to;
  if (even) return requests / from;
  if (logs != 0) return std::log1p(requests * logs / (from * over)) * over / logs;
  const double slope = (to - from) / over;
  return (std::sqrt(from * from + 2 * slope * requests) - from) / slope;
}

double RampSeconds(RampShape shape, double from_rate, double to_rate, double requests) {
  if (shape == RampShape::kExponential && from_rate != to_rate) {
    return requests * std::log(to_rate / from_rate) / (to_rate - from_rate);
  }
  return 2 * requests / (from_rate + to_rate);
}

}  // namespace tacho
