#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/column.h"
#include "model/launch_sizes.h"
#include "model/slice_kind.h"

namespace tacho {

// How long the calls and the GPU work of a file took, by kind and name, without storing rows. This
// is all that summaries need. Several entries may have the same name.
struct WorkTimes {
  // Integers in any order. How they are divided into lists does not matter.
  using Lists = std::vector<Column<int64_t>>;

  struct Kernel {
    std::string name;
    std::optional<LaunchSizes::Xyz> grid, block;  // absent: unknown, or not asked for
    Lists ns;
  };
  struct MemoryWork {
    SliceKind kind = SliceKind::kMemcpy;  // or kMemset
    std::string name;                     // "Memcpy HtoD (Pinned -> Device)"
    Lists ns, bytes;
  };
  struct Call {
    std::string name;
    int64_t version = -1;  // version of its signature; -1: unknown
    Lists ns;
  };
  struct OsCall {
    std::string name;
    Lists ns;
  };

  std::vector<Kernel> kernels;
  std::vector<MemoryWork> memory;
  std::vector<Call> calls;
  std::vector<OsCall> os_calls;
};

}  // namespace tacho
