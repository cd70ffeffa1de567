#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace tacho {

// The names that a program gave to the nodes of its CUDA graphs: "layers.0.attn". torch 2.15 writes
// them into the arguments of the kernels, copies and sets of each replay: export_chrome_trace with
// use_python_export and cuda_graph_annotations. Immutable.
class GraphAnnotations {
 public:
  // Cost: O(n) for n rows of GPU work if any has such arguments, else one pass over the argument
  // shapes.
  explicit GraphAnnotations(const Trace& trace);

  [[nodiscard]] bool anywhere() const { return !of_row_.empty(); }
  // The number of the annotation of a row of Trace::gpu, below texts().size(); 0: it has none.
  [[nodiscard]] uint32_t NumberOf(size_t gpu_row) const {
    return of_row_.empty() ? 0 : of_row_[gpu_row];
  }
  // All annotations, by number. The first is "", for rows without one.
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  [[nodiscard]] std::string_view Of(size_t gpu_row) const { return texts_[NumberOf(gpu_row)]; }

 private:
  std::vector<std::string> texts_{""};
  std::vector<uint32_t> of_row_;  // empty: the trace has none
};

// The annotation of one row, found without reading the others.
std::string GraphAnnotationOf(const Trace& trace, size_t gpu_row);

}  // namespace tacho
