#include "simulate/trace/op_inputs.h"

#include <fmt/format.h>

#include <vector>

namespace tacho::simulate {
namespace {

using Dims = std::vector<int64_t>;

std::string List(const Dims& dims) {
  std::string text;
  for (const int64_t dim : dims) text += fmt::format("{}{}", text.empty() ? "" : ", ", dim);
  return "[" + text + "]";
}

// The strides of a tensor that is stored row by row (its last dimension is contiguous).
Dims StridesOf(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// The dimensions of the operator's inputs.
std::vector<Dims> InputsOf(const CostModel& cost, KernelRole role, int64_t rows) {
  const ModelShape& m = cost.model;
  const int64_t tp = cost.tensor_parallel;
  const int64_t q = m.heads * m.head_dim / tp, kv = m.kv_heads * m.head_dim / tp;
  const int64_t inner = m.experts > 0 ? m.intermediate : m.intermediate / tp;
  switch (role) {
    case KernelRole::kQkv:
      return {{rows, m.hidden}, {m.hidden, q + 2 * kv}};
    case KernelRole::kOutProjection:
      return {{rows, q}, {q, m.hidden}};
    case KernelRole::kGateUp:
    case KernelRole::kGateUpCutlass:
      return {{rows, m.hidden}, {m.hidden, 2 * inner}};
    case KernelRole::kDown:
      return {{rows, inner}, {inner, m.hidden}};
    case KernelRole::kSharedGateUp:
      return {{rows, m.hidden}, {m.hidden, 2 * m.shared / tp}};
    case KernelRole::kSharedActivation:
      return {{rows, m.shared / tp}, {rows, 2 * m.shared / tp}};
    case KernelRole::kSharedDown:
      return {{rows, m.shared / tp}, {m.shared / tp, m.hidden}};
    case KernelRole::kLmHead:
      return {{rows, m.hidden}, {m.hidden, m.vocabulary / tp}};
    case KernelRole::kActivation:
      return {{rows, inner}, {rows, 2 * inner}};
    case KernelRole::kAttention:
    case KernelRole::kAttentionTriton:
      return {{rows, m.heads / tp, m.head_dim}, {rows, m.kv_heads, m.head_dim}};
    case KernelRole::kArgmax:
      return {{rows, m.vocabulary}};
    default:
      return {{rows, m.hidden}};
  }
}

}  // namespace

std::string OperatorInputs(const CostModel& cost, KernelRole role, int64_t rows) {
  std::string values, types, strides, dims;
  for (const Dims& input : InputsOf(cost, role, rows)) {
    const std::string_view comma = values.empty() ? "" : ", ";
    values += fmt::format("{}\"\"", comma);
    types += fmt::format("{}\"c10::BFloat16\"", comma);
    strides += fmt::format("{}{}", comma, List(StridesOf(input)));
    dims += fmt::format("{}{}", comma, List(input));
  }
  return fmt::format(
      R"("Concrete Inputs": [{}], "Input type": [{}], "Input Strides": [{}], "Input Dims": [{}])",
      values, types, strides, dims);
}

}  // namespace tacho::simulate
