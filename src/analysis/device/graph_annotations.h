#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace tacho {

// The names that a program gave to the nodes of its CUDA graphs, such as "layers.0.attn". On each
// replay of a graph, torch 2.15 writes them into the arguments of the kernels, copies and memsets
// if export_chrome_trace is called with use_python_export and cuda_graph_annotations. Immutable.
class GraphAnnotations {
 public:
  // Cost: O(n) for n rows of GPU work if any event has such an argument. Otherwise one pass over
  // the argument shapes (the sets of argument names that events have).
  explicit GraphAnnotations(const Trace& trace);

  [[nodiscard]] bool anywhere() const { return !of_row_.empty(); }
  // The number of a GPU row's annotation, an index into texts(). 0: the row has none.
  [[nodiscard]] uint32_t NumberOf(size_t gpu_row) const {
    return of_row_.empty() ? 0 : of_row_[gpu_row];
  }
  // All annotations, by number. texts()[0] is "", for rows without an annotation.
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  [[nodiscard]] std::string_view Of(size_t gpu_row) const { return texts_[NumberOf(gpu_row)]; }

 private:
  std::vector<std::string> texts_{""};
  std::vector<uint32_t> of_row_;  // empty: the trace has none
};

// The annotation of one row of Trace::gpu, found without reading the other rows.
std::string GraphAnnotationOf(const Trace& trace, size_t gpu_row);

}  // namespace tacho
