#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/host/ops.h"
#include "analysis/index/arg_reader.h"
#include "model/trace.h"

namespace tacho {

// The floating-point operations of host operators, from their input shapes by PyTorch's formulas
// (torch/csrc/profiler/util.cpp), for mm, addmm, bmm, baddbmm, conv2d, mul and add. with_flops=True
// counts them, but no trace file holds the counts. conv2d also needs its "Concrete Inputs".
class OpFlops {
 public:
  explicit OpFlops(const Trace& trace);

  // Adds the operations of a call (a row of Trace::host_ops) that `row` already counts. `row` keeps
  // a sum as long as each of its calls has what its formula needs, and none exceeds an int64.
  void Add(uint32_t op, OpRow& row);

 private:
  enum class Formula : uint8_t {
    kNone,
    kProduct,
    kAddedProduct,
    kBatch,
    kAddedBatch,
    kConv,
    kSize
  };
  [[nodiscard]] std::optional<int64_t> Of(Formula formula, uint32_t op);

  const Trace& trace_;
  const ArgReader dims_, inputs_;
  std::vector<Formula> formula_;  // by StringId of the operator's name; empty: no shapes recorded
  std::unordered_map<uint64_t, std::optional<int64_t>> known_;  // by formula and StringId of shapes
};

}  // namespace tacho
