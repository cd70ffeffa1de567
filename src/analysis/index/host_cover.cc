#include "analysis/index/host_cover.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/interval_set.h"

namespace tacho {
namespace {

// Goes through the slices of a stretch and charges each part of its time to the innermost slice.
class HostCover {
 public:
  HostCover(const HostTree& tree, Interval when) : tree_(tree), when_(when), now_(when.start) {}

  const HostTree::Node* Find(TrackId track) {
    const std::span<const HostTree::Node> nodes(tree_.nodes);
    const auto first = nodes.begin() + tree_.track_begin[Index(track)];
    const auto last = nodes.begin() + tree_.track_begin[Index(track) + 1];
    auto next =
        std::lower_bound(first, last, when_.start,
                         [](const HostTree::Node& node, TimeNs t) { return node.when.start < t; });
    if (next != first) OpenAncestors(static_cast<int32_t>(next - nodes.begin()) - 1);
    for (; next != last && next->when.start < when_.end; ++next) {
      AdvanceTo(next->when.start);
      open_.push_back(static_cast<int32_t>(next - nodes.begin()));
    }
    AdvanceTo(when_.end);
    return Longest();
  }

 private:
  [[nodiscard]] const HostTree::Node& Node(int32_t node) const {
    return tree_.nodes[static_cast<size_t>(node)];
  }

  // Opens the slices around `node`, and `node` itself, that are still open when the stretch begins;
  // outermost first.
  void OpenAncestors(int32_t node) {
    for (; node >= 0; node = Node(node).parent) {
      if (Node(node).when.end > when_.start) open_.push_back(node);
    }
    std::ranges::reverse(open_);
  }

  void AdvanceTo(TimeNs t) {
    while (!open_.empty() && Node(open_.back()).when.end <= t) {
      Charge(Node(open_.back()).when.end);
      open_.pop_back();
    }
    Charge(t);
  }

  void Charge(TimeNs t) {
    if (t <= now_) return;
    (open_.empty() ? outside_ : covered_[open_.back()]) += t - now_;
    now_ = t;
  }

  [[nodiscard]] const HostTree::Node* Longest() const {
    int32_t best = -1;
    DurationNs time = outside_;
    for (const auto& [node, covered] : covered_) {
      // If several slices have equal times, the first one wins. A slice also wins if its time
      // equals the time outside of all slices.
      if (covered > time || (covered == time && (best < 0 || node < best))) {
        best = node;
        time = covered;
      }
    }
    return best < 0 ? nullptr : &Node(best);
  }

  const HostTree& tree_;
  Interval when_;
  TimeNs now_;
  DurationNs outside_;
  std::vector<int32_t> open_;
  std::unordered_map<int32_t, DurationNs> covered_;  // keyed by node
};

}  // namespace

bool IsUserCode(std::string_view frame) {
  constexpr std::array<std::string_view, 5> kOthers = {"<", "torch/", "triton/", "runpy.py",
                                                       "nn.Module: "};
  return !frame.ends_with(": __torch_function__") &&
         frame.find("/python/triton/") == std::string_view::npos &&  // a checkout of Triton
         std::ranges::none_of(kOthers,
                              [&](std::string_view other) { return frame.starts_with(other); });
}

HostTree SlicesAround(const TrackIndex& index, const std::vector<HostStretch>& stretches) {
  std::vector<std::vector<Interval>> by_track(index.trace().words.tracks().size());
  for (const HostStretch& stretch : stretches) {
    by_track[Index(stretch.track)].push_back(stretch.when);
  }
  std::vector<IntervalSet> parts;
  for (std::vector<Interval>& of_track : by_track) parts.emplace_back(std::move(of_track));
  std::vector<HostRows> tables;
  ForEachNestingTable(index, false, [&](SliceKind kind, const LaneRows& lanes) {
    std::vector<uint32_t> rows;
    std::vector<size_t> begin{0};
    for (size_t track = 0; track < parts.size(); ++track) {
      size_t taken = 0;  // places before this one were visited for an earlier part
      for (const Interval& part : parts[track].intervals()) {
        lanes.ForEachIn(track, part, [&](size_t place, uint32_t row) {
          if (place < taken || lanes.table().duration[row] == 0) return;
          rows.push_back(row);
          taken = place + 1;
        });
      }
      begin.push_back(rows.size());
    }
    tables.emplace_back(kind, lanes, std::move(rows), begin);
  });
  return NestHostSlices(tables);
}

const HostTree::Node* MainSlice(const HostTree& tree, const HostStretch& stretch) {
  return HostCover(tree, stretch.when).Find(stretch.track);
}

std::vector<std::optional<uint32_t>> MainFrames(const TrackIndex& index,
                                                const std::vector<HostStretch>& stretches) {
  const Trace& trace = index.trace();
  const SliceTable& frames = trace.python_frames;
  std::vector<std::optional<uint32_t>> main;
  for (const HostStretch& of : stretches) {
    const Interval& stretch = of.when;
    std::optional<uint32_t>& innermost = main.emplace_back();
    // A frame that covers more than half of the stretch is open in its middle. Such frames nest, so
    // the last one visited is the innermost.
    const TimeNs middle = stretch.start + DurationNs{stretch.length().ns / 2};
    const Interval instant{middle, middle + DurationNs{1}};
    index.python_frames().ForEachIn(Index(of.track), instant, [&](size_t, uint32_t row) {
      const DurationNs shared = frames.When(row).Clip(stretch).length();
      if (2 * shared.ns <= stretch.length().ns) return;
      if (IsUserCode(trace.Text(frames.name[row]))) innermost = row;
    });
  }
  return main;
}

}  // namespace tacho
