#pragma once

#include <utility>

#include "load/drive/lanes.h"

namespace tacho {

inline LoadPlan PlanOf(uint64_t requests, uint64_t concurrency) {
  PlanOptions options;
  options.requests = requests;
  options.prompt_tokens = options.output_tokens = 1;
  options.concurrency = concurrency;
  return *MakePlan(options);
}

// A plan's lanes together with the objects to which they refer.
struct Laid {
  Laid(LoadPlan of, size_t targets)
      : plan(std::move(of)), requests(plan), lanes(requests, plan.options, targets) {}
  Laid(const Laid&) = delete;
  Laid& operator=(const Laid&) = delete;

  const LoadPlan plan;
  const NumberedPlan requests;
  const Lanes lanes;
};

}  // namespace tacho
