#include "export/folded_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/parse_number.h"
#include "export/export_window.h"
#include "export/pieces.h"
#include "export/stack_tree.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr std::string_view kNoLaunch = "(no launch in the trace)";

// The stacks of one trace.
class FoldedTrace {
 public:
  FoldedTrace(const QueriedTrace& of, Interval window)
      : trace_(of.trace()), of_(of), window_(window) {}

  void Add(StackTime time) {
    if (time == StackTime::kGpu) calls_.assign(trace_.host_calls.size(), StackTree::kNone);
    roots_.assign(trace_.words.tracks().size(), StackTree::kNone);
    WalkHostSlices(AllHostRows(of_.prepared().index, true), StackTree::kNone,
                   [&](const HostSlice& slice, uint32_t parent) {
                     if (parent == StackTree::kNone) parent = RootOf(slice.track);
                     const uint32_t node = tree_.Child(parent, NameOf(slice));
                     if (time == StackTime::kCpu) {
                       const int64_t ns = slice.when.Clip(window_).length().ns;
                       tree_[node].ns += ns;
                       tree_[parent].ns -= ns;
                     } else if (slice.kind == SliceKind::kHostCall) {
                       calls_[slice.row] = node;
                     }
                     return node;
                   });
    if (time == StackTime::kGpu) AddGpu();
  }

  size_t Write(const std::string& rank, Pieces& out) const {
    size_t lines = 0;
    for (uint32_t node = 0; node < tree_.size() && out.can_write(); ++node) {
      if (tree_[node].ns <= 0) continue;
      out.text() += rank;
      for (const uint32_t frame : tree_.PathTo(node)) {
        out.text() += ';';
        out.text() += tree_[frame].parent == StackTree::kNone
                          ? RootText(frame)
                          : FoldedFrame(trace_.Text(tree_[frame].name));
      }
      out.text() += fmt::format(" {}\n", tree_[node].ns);
      out.Pass();
      ++lines;
    }
    return lines;
  }

 private:
  StringId NameOf(const HostSlice& slice) const {
    switch (slice.kind) {
      case SliceKind::kPythonFrame:
        return trace_.python_frames.name[slice.row];
      case SliceKind::kAnnotation:
        return trace_.annotations.name[slice.row];
      case SliceKind::kHostOp:
        return trace_.host_ops.name[slice.row];
      default:
        return trace_.host_calls.name[slice.row];
    }
  }

  uint32_t RootOf(TrackId track) {
    uint32_t& root = roots_[Index(track)];
    if (root == StackTree::kNone) root = tree_.AddRoot();
    return root;
  }

  void AddGpu() {
    std::optional<uint32_t> no_launch;
    for (uint32_t row = 0; row < trace_.gpu.size(); ++row) {
      const int64_t ns = trace_.gpu.When(row).Clip(window_).length().ns;
      if (ns <= 0) continue;
      const uint32_t call = of_.prepared().links.call_of_gpu[row];
      uint32_t parent = call == LaunchLinks::kNone ? StackTree::kNone : calls_[call];
      if (parent == StackTree::kNone) {
        if (!no_launch) no_launch = tree_.AddRoot();
        parent = *no_launch;
      }
      tree_[tree_.Child(parent, trace_.gpu.name[row])].ns += ns;
    }
  }

  // The first frames of a thread's stacks: "1234 python;1235 (main)".
  [[nodiscard]] std::string RootText(uint32_t root) const {
    const auto found = std::ranges::find(roots_, root);
    if (found == roots_.end()) return std::string(kNoLaunch);
    const Track& track = trace_.words.tracks()[static_cast<size_t>(found - roots_.begin())];
    const Process& process = trace_.words[track.process];
    const auto text = [&](StringId id, StringId name) {
      return FoldedFrame(std::string(trace_.Text(id)) + (name == StringId::kEmpty ? "" : " ") +
                         std::string(trace_.Text(name)));
    };
    return text(process.id, process.name) + ";" + text(track.tid, track.name);
  }

  const Trace& trace_;
  const QueriedTrace& of_;
  Interval window_;
  StackTree tree_;
  std::vector<uint32_t> roots_;  // indexed by TrackId
  std::vector<uint32_t> calls_;  // indexed by row of host_calls
};

// The frame for a trace: "rank 3", or the name of its file if the rank is unknown.
std::string RankFrame(const QueriedTrace& trace) {
  const auto& rank = trace.analysis().facts.rank;
  if (rank) return fmt::format("rank {}", *rank);
  return FoldedFrame(trace.path().substr(trace.path().find_last_of('/') + 1));
}

}  // namespace

std::string FoldedFrame(std::string_view name) {
  std::string frame = VisibleText(name);
  std::ranges::replace(frame, ';', ':');
  return frame.empty() ? "(no name)" : frame;
}

size_t WriteFoldedStacks(const QueriedRun& run, std::span<const Interval> windows, StackTime time,
                         ByteSink& to) {
  Pieces out(to);
  size_t lines = 0;
  for (size_t i = 0; i < run.traces.size() && out.can_write(); ++i) {
    FoldedTrace trace(*run.traces[i], windows[i]);
    trace.Add(time);
    lines += trace.Write(RankFrame(*run.traces[i]), out);
  }
  out.Finish();
  return lines;
}

bool LooksFolded(std::string_view start) {
  size_t lines = 0;
  for (size_t end = start.find('\n'); end != std::string_view::npos; end = start.find('\n')) {
    const std::string_view line = start.substr(0, end);
    const size_t space = line.rfind(' ');
    if (space == std::string_view::npos) return false;
    if (!ParseWhole<uint64_t>(line.substr(space + 1))) return false;
    start.remove_prefix(end + 1);
    ++lines;
  }
  return lines > 0;
}

}  // namespace tacho
