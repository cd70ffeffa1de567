#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "simulate/trace/trace_steps.h"

namespace tacho::simulate {

// What speculative decoding costs in a trace: times of the steps that verify proposed tokens, and
// of plain decode steps with as many requests. docs/simulate.md has the fields.
class SpeculationTruth {
 public:
  // Counts a decode step if the trace shows all its device work.
  void Add(const TracedStep& step);

  [[nodiscard]] bool any() const { return !verifying_.empty(); }
  // Its fields in truth.json.
  [[nodiscard]] std::vector<std::pair<std::string_view, int64_t>> Fields() const;

 private:
  struct Verifying {
    int64_t requests, tokens, accepted, verify_ns, draft_ns;
  };
  struct Plain {
    int64_t steps = 0, ns = 0;
  };
  std::vector<Verifying> verifying_;
  std::map<int64_t, Plain> plain_;  // by number of requests
};

}  // namespace tacho::simulate
