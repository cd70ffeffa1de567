// What a generated trace is like.
#pragma once

#include <cstdint>

#include "simulate/trace/kineto_text.h"

namespace tacho::bench {

inline constexpr int kPid = 13702;

struct TraceOptions {
  char layout = 'a';   // 'a': several keys on a line, as Kineto wrote until early 2026; 'b': one
  bool stack = true;   // Python frames
  bool shapes = true;  // shapes, strides and types of the operators' inputs
  std::uint64_t seed = 1;

  [[nodiscard]] bool classic() const { return layout == 'a'; }
  [[nodiscard]] const simulate::KinetoLayout& Lines() const {
    return simulate::LayoutOf(classic() ? simulate::KinetoDialect::kManyKeysALine
                                        : simulate::KinetoDialect::kOneKeyALine);
  }
};

}  // namespace tacho::bench
