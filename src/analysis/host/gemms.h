#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/index/arg_reader.h"
#include "base/time.h"
#include "model/trace.h"

namespace tacho {

// The least time that matrix products take at the peaks of the accelerator, and the shares of their
// time that their FLOPs and their bytes take (roofline/gemm_roofs.h).
struct GemmRoof {
  DurationNs time;
  double mfu = 0, mbu = 0;
};

// All calls of one operator that multiply `batch` matrices of m x k numbers with as many of k x n.
struct GemmRow {
  std::string op;    // "aten::mm"
  std::string type;  // of the numbers: "c10::BFloat16"; if the matrices differ, both: "A x B"
  int64_t batch = 1, m = 0, n = 0, k = 0;
  uint64_t count = 0;
  DurationNs device = {};  // of the work that the calls launched themselves
  double flops = 0;        // of all calls: 2 batch m n k each
  // Of both matrices and their product, for all calls. Its numbers are those of the left matrix, or
  // have 16 bits if those have 8. An added bias does not count.
  double bytes = 0;
  std::optional<GemmRoof> roof = {};  // absent: not known
};

// Collects the matrix products of operators that say the sizes and types of their matrices:
// aten::mm, addmm, bmm, baddbmm and _scaled_mm, vLLM's cutlass_scaled_mm, SGLang's fp8_scaled_mm
// and int8_scaled_mm. Work of a graph's launch has no operator. Cost: O(log n) a call, n different
// texts of sizes and types.
class GemmCollector {
 public:
  explicit GemmCollector(const Trace& trace);

  // `op`: row of Trace::host_ops. `device`: of the work that this call launched itself. A call
  // without any does not count: its work was lost, or it runs on the host.
  void Add(uint32_t op, DurationNs device);
  // Longest first, then in the order of operators and sizes.
  std::vector<GemmRow> Finish() &&;

 private:
  using Key = std::tuple<std::string_view, std::string, int64_t, int64_t, int64_t, int64_t>;
  GemmRow* RowOf(uint8_t left, StringId name, StringId dims, StringId types);

  const Trace& trace_;
  const ArgReader dims_, types_;
  std::map<StringId, uint8_t> left_;  // by name: the place of the left matrix in the inputs
  std::map<Key, GemmRow> rows_;
  std::map<std::tuple<StringId, StringId, StringId>, GemmRow*> known_;  // by name, sizes, types
};

// Bytes of a number by the name of its type in PyTorch's traces: "c10::BFloat16"; 0: not known.
int64_t BytesOfInputType(std::string_view type);

}  // namespace tacho
