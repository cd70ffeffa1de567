#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tacho::nsys {

// A range that torch.autograd.profiler.emit_nvtx wrote, split into its name and the fields after
// it: "aten::mm, seq = 5, op_id = 31, sizes = [[2, 3], [3, 4]]". torch adds seq where autograd
// runs, and sizes with record_shapes.
struct TorchRange {
  std::string_view name;
  std::optional<int64_t> sequence;
  int64_t op_id = 0;
  std::string_view sizes;  // JSON; empty if there are none
};
// Splits `text`. nullopt if it has another form, or holds anything besides these four fields.
std::optional<TorchRange> ParseTorchRange(std::string_view text);

// Whether a name looks like that of a torch operator ("aten::mm", "MmBackward0") and not like one
// that a user chose.
bool IsOperatorName(std::string_view name);

}  // namespace tacho::nsys
