#include "model/nesting.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tacho {

NestingDepths FindDepths(const TrackIndex& index) {
  NestingDepths depths;
  std::array<std::vector<uint16_t>*, static_cast<size_t>(SliceKind::kOther) + 1> of_kind{};
  of_kind[static_cast<size_t>(SliceKind::kPythonFrame)] = &depths.python_frames;
  of_kind[static_cast<size_t>(SliceKind::kAnnotation)] = &depths.annotations;
  of_kind[static_cast<size_t>(SliceKind::kHostOp)] = &depths.host_ops;
  of_kind[static_cast<size_t>(SliceKind::kHostCall)] = &depths.host_calls;
  ForEachNestingTable(index, true, [&](SliceKind kind, const LaneRows& rows) {
    of_kind[static_cast<size_t>(kind)]->resize(rows.table().size());
  });
  WalkHostSlices(
      AllHostRows(index, true), int32_t{-1}, [&](const HostSlice& slice, int32_t around) {
        const int32_t depth = std::min(around + 1, int32_t{UINT16_MAX});
        (*of_kind[static_cast<size_t>(slice.kind)])[slice.row] = static_cast<uint16_t>(depth);
        return depth;
      });
  return depths;
}

}  // namespace tacho
