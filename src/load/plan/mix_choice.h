#pragma once

#include <vector>

#include "base/result.h"
#include "load/plan/scenario.h"

namespace tacho {

// Draws scenarios from a mix according to their weights.
class MixChoice {
 public:
  // An empty mix means the default mix. kUsage: an unknown scenario, a negative weight, a sum of 0.
  static Result<MixChoice> Create(const std::vector<MixPart>& mix);

  // The scenario for a random number `u` from [0, 1).
  const Scenario& At(double u) const;

 private:
  struct Part {
    const Scenario* scenario = nullptr;
    double upto = 0;  // the sum of this share and the shares before it
  };
  std::vector<Part> parts_;
};

}  // namespace tacho
