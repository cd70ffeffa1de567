#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/host/ops.h"
#include "analysis/index/arg_reader.h"
#include "model/trace.h"

namespace tacho {

// The floating-point operations of host operators, computed from their input shapes by PyTorch's
// formulas (torch/csrc/profiler/util.cpp), for mm, addmm, bmm, baddbmm, conv2d, mul and add.
// PyTorch counts them with with_flops=True but does not write them to trace files. conv2d also
// needs the argument "Concrete Inputs".
class OpFlops {
 public:
  explicit OpFlops(const Trace& trace);

  // Adds the operations of one call to `row`. `op`: the call as a row of Trace::host_ops; `row`
  // must already count the call. `row.flops` becomes absent if a call lacks what its formula needs,
  // or if the sum exceeds an int64.
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
  // By StringId of the operator's name; empty: no shapes were recorded.
  std::vector<Formula> formula_;
  // By formula and StringId of the shapes.
  std::unordered_map<uint64_t, std::optional<int64_t>> known_;
};

}  // namespace tacho
