#include "export/torch_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analysis/host/ops.h"
#include "base/utf8.h"
#include "export/pieces.h"
#include "export/stack_tree.h"

namespace tacho {
namespace {

// Frames that torch's _filter_stack_entry leaves out.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kLeftOut = {
    {{"autograd/__init__", "_make_grads"},
     {"autograd/__init__", "backward"},
     {"torch/tensor", "backward"},
     {"_internal/common_utils", "prof_callable"},
     {"_internal/common_utils", "prof_func_call"},
     {"_internal/common_utils", "prof_meth_call"}}};

bool IsLeftOut(std::string_view frame) {
  return std::ranges::any_of(kLeftOut, [&](const auto& of) {
    return frame.find(of.first) != std::string_view::npos &&
           frame.find(of.second) != std::string_view::npos;
  });
}

std::string TorchFrame(std::string_view name) {
  std::string frame = ValidUtf8(name);
  for (char& c : frame) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f || c == ';') c = '_';
  }
  return frame;
}

// For each host slice: the Python functions around it.
struct PythonStacks {
  StackTree tree;
  std::array<std::vector<uint32_t>, kSliceKinds> around;  // by kind and row: a node of the tree

  explicit PythonStacks(const TrackIndex& index) {
    const auto tables = AllHostRows(index, true);
    for (const HostRows& rows : tables)
      around[static_cast<size_t>(rows.kind())].assign(rows.table().size(), StackTree::kNone);
    WalkHostSlices(tables, StackTree::kNone, [&](const HostSlice& slice, uint32_t parent) {
      around[static_cast<size_t>(slice.kind)][slice.row] = parent;
      if (slice.kind != SliceKind::kPythonFrame) return parent;
      const StringId name = index.trace().python_frames.name[slice.row];
      return IsLeftOut(index.trace().Text(name)) ? parent : tree.Child(parent, name);
    });
  }
};

size_t WriteTrace(const QueriedTrace& of, Interval window, StackTime time, Pieces& out) {
  const PreparedTrace& prepared = of.prepared();
  const PythonStacks stacks(prepared.index);
  size_t lines = 0;
  for (const KeyEvent& event :
       EventsByKey(prepared.index, prepared.links, {.window = window, .device = {}})) {
    const uint32_t stack = stacks.around[static_cast<size_t>(event.kind)][event.row];
    const int64_t us = (time == StackTime::kCpu ? event.self : event.device_self).ns / 1000;
    if (stack == StackTree::kNone || us <= 0) continue;
    std::string line;
    for (const uint32_t frame : stacks.tree.PathTo(stack)) {
      line += (line.empty() ? "" : ";") + TorchFrame(of.Text(stacks.tree[frame].name));
    }
    out.text() += fmt::format("{} {}\n", line, us);
    if (!out.Pass()) break;
    ++lines;
  }
  return lines;
}

}  // namespace

size_t WriteTorchStacks(const QueriedRun& run, std::span<const Interval> windows, StackTime time,
                        ByteSink& to) {
  Pieces out(to);
  size_t lines = 0;
  for (size_t i = 0; i < run.traces.size() && out.can_write(); ++i)
    lines += WriteTrace(*run.traces[i], windows[i], time, out);
  out.Finish();
  return lines;
}

}  // namespace tacho
