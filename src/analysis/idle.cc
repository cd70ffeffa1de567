#include "analysis/idle.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/host_nesting.h"

namespace tacho {
namespace {

constexpr size_t kCauses = static_cast<size_t>(IdleCause::kCount);

// A gap before its texts are looked up.
struct RawGap {
  Interval when;
  uint32_t device = 0;            // index into DeviceWork::devices
  StringId before{}, after{};     // empty: none
  std::optional<TrackId> thread;  // whose doing the host's part is
  TimeNs host_until;              // end of the host's part
  std::array<DurationNs, kCauses> parts{};

  [[nodiscard]] Interval host_part() const { return {when.start, host_until}; }
  DurationNs& part(IdleCause cause) { return parts[static_cast<size_t>(cause)]; }
};

void JoinOverlapping(std::vector<Interval>& intervals) {
  std::ranges::sort(intervals, {}, &Interval::start);
  size_t kept = 0;
  for (const Interval& next : intervals) {
    if (kept > 0 && next.start <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, next.end);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
}

bool LongerFirst(const RawGap& a, const RawGap& b) {
  if (a.when.length() != b.when.length()) return a.when.length() > b.when.length();
  return std::tie(a.when.start, a.device) < std::tie(b.when.start, b.device);
}

// Keeps the longest gaps in bounded memory.
class LongestGaps {
 public:
  explicit LongestGaps(size_t max) : max_(max) {}

  void Add(const RawGap& gap) {
    if (max_ == 0) return;
    if (heap_.size() == max_) {
      if (!LongerFirst(gap, heap_.front())) return;
      std::ranges::pop_heap(heap_, LongerFirst);
      heap_.pop_back();
    }
    heap_.push_back(gap);
    std::ranges::push_heap(heap_, LongerFirst);
  }
  std::vector<RawGap> Take() && {
    std::ranges::sort(heap_, LongerFirst);
    return std::move(heap_);
  }

 private:
  size_t max_;
  std::vector<RawGap> heap_;  // the shortest on top
};

// The tree of the host slices that touch the host's part of one of `gaps` on its thread. Slices
// that are left out would neither cover any of it nor change how the others nest: what ends before
// an instant closes nothing that is still open then.
HostTree SlicesAround(const Trace& trace, const std::vector<RawGap>& gaps) {
  std::vector<std::vector<Interval>> parts(trace.words.tracks().size());
  for (const RawGap& gap : gaps) {
    if (gap.thread && !gap.host_part().empty()) {
      parts[Index(*gap.thread)].push_back(gap.host_part());
    }
  }
  for (std::vector<Interval>& of_track : parts) JoinOverlapping(of_track);
  const auto touches = [&](SliceKind, const SliceTable& table, uint32_t row) {
    const std::vector<Interval>& of_track = parts[Index(table.track[row])];
    const auto next = std::ranges::upper_bound(of_track, table.start[row], {}, &Interval::end);
    return next != of_track.end() && table.start[row] < next->end &&
           next->start < table.When(row).end;
  };
  return NestHostSlices(trace, CollectHostRows(trace, false, touches));
}

// The host slice that covers most of `when` on a track, each instant charged to the innermost one;
// empty when most of it is outside of all.
class HostCover {
 public:
  HostCover(const HostTree& tree, Interval when) : tree_(tree), when_(when), now_(when.start) {}

  StringId Find(TrackId track) {
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

  // The slices around `node`, itself included, that are open when the stretch begins, outermost
  // first.
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

  [[nodiscard]] StringId Longest() const {
    int32_t best = -1;
    DurationNs time = outside_;
    for (const auto& [node, covered] : covered_) {
      // Of equals the first slice; any slice rather than none.
      if (covered > time || (covered == time && (best < 0 || node < best))) {
        best = node;
        time = covered;
      }
    }
    return best < 0 ? StringId::kEmpty : Node(best).name;
  }

  const HostTree& tree_;
  Interval when_;
  TimeNs now_;
  DurationNs outside_;
  std::vector<int32_t> open_;
  std::unordered_map<int32_t, DurationNs> covered_;  // by node
};

class Attribution {
 public:
  Attribution(const Trace& trace, const DeviceWork& work, const LaunchLinks& links,
              const Scope& scope, size_t max_gaps)
      : trace_(trace), work_(work), links_(links), scope_(scope), longest_(max_gaps) {
    if (!work.on_host) device_of_call_.assign(trace.host_calls.size(), kNoDevice);
  }

  void AddDevice(uint32_t index) {
    const std::vector<WorkItem>& items = work_.devices[index].items;
    std::optional<Interval> window = scope_.window;
    if (!window && items.empty()) return;
    TimeNs reach = window ? window->start : items.front().when.start;
    const TimeNs begin = reach;
    DurationNs idle;
    StringId before{};  // the work that reaches furthest
    const auto add_gap = [&](TimeNs end, std::span<const WorkItem> enders) {
      RawGap gap;
      gap.when = {reach, end};
      gap.device = index;
      gap.before = before;
      Attribute(gap, enders);
      idle += gap.when.length();
      Count(gap);
    };
    for (size_t i = 0; i < items.size(); ++i) {
      const WorkItem& item = items[i];
      if (!Touches(scope_, item.when)) continue;
      const Interval clipped = scope_.Clip(item.when);
      if (clipped.start > reach) {
        size_t end = i + 1;
        while (end < items.size() && items[end].when.start == item.when.start) ++end;
        add_gap(clipped.start, std::span(items).subspan(i, end - i));
      }
      // Names decide between equals: the order of the file must not.
      if (before == StringId::kEmpty || clipped.end > reach ||
          (clipped.end == reach && trace_.Text(item.name) < trace_.Text(before))) {
        before = item.name;
      }
      reach = std::max(reach, clipped.end);
      if (const uint32_t call = CallOf(item); call != LaunchLinks::kNone) {
        device_of_call_[call] = index;
      }
    }
    if (window && window->end > reach) add_gap(window->end, {});
    const DurationNs length = Interval{begin, window ? window->end : reach}.length();
    table_.window += length;
    table_.busy += length - idle;
  }

  IdleTable Finish() && {
    for (size_t cause = 0; cause < kCauses; ++cause) {
      if (gaps_with_[cause] == 0) continue;
      table_.causes.push_back({static_cast<IdleCause>(cause), total_[cause], gaps_with_[cause]});
    }
    std::ranges::stable_sort(table_.causes, [](const IdleCauseRow& a, const IdleCauseRow& b) {
      return a.total > b.total;
    });
    const std::vector<RawGap> longest = std::move(longest_).Take();
    const HostTree host = SlicesAround(trace_, longest);
    for (const RawGap& gap : longest) table_.gaps.push_back(Describe(gap, host));
    return std::move(table_);
  }

 private:
  static constexpr uint32_t kNoDevice = 0xffffffff;

  [[nodiscard]] uint32_t CallOf(const WorkItem& item) const {
    return work_.on_host ? LaunchLinks::kNone : links_.call_of_gpu[item.row];
  }

  // Of the items that start together at a gap's end, the one that was launched first: the device
  // could have gone on with it.
  [[nodiscard]] const WorkItem& FirstLaunched(std::span<const WorkItem> items) const {
    const WorkItem* best = &items.front();
    if (items.size() == 1) return *best;
    const auto rank = [&](const WorkItem& item) {
      const uint32_t call = CallOf(item);
      const bool known = call != LaunchLinks::kNone;
      const Interval when = known ? trace_.host_calls.When(call) : Interval{};
      const int64_t correlation = known ? trace_.host_calls.correlation[call] : 0;
      return std::tuple(!known, when.start, when.end, correlation, trace_.Text(item.name));
    };
    for (const WorkItem& item : items.subspan(1)) {
      if (rank(item) < rank(*best)) best = &item;
    }
    return *best;
  }

  // Splits a gap that one of `enders` ended; none: the window did.
  void Attribute(RawGap& gap, std::span<const WorkItem> enders) const {
    const auto [a, b] = gap.when;
    const WorkItem* const ender = enders.empty() ? nullptr : &FirstLaunched(enders);
    if (ender != nullptr) gap.after = ender->name;
    if (work_.on_host) {
      gap.thread = work_.devices[gap.device].executor;
      gap.host_until = b;
      gap.part(IdleCause::kHost) = b - a;
      return;
    }
    const uint32_t call = ender == nullptr ? LaunchLinks::kNone : CallOf(*ender);
    if (call == LaunchLinks::kNone) {
      gap.part(IdleCause::kUnknown) = b - a;
      return;
    }
    gap.thread = trace_.host_calls.track[call];
    const Interval launch = trace_.host_calls.When(call);
    // A clock that is off may have the launch start after the work.
    gap.host_until = std::clamp(launch.start, a, b);
    if (device_of_call_[call] == gap.device) {
      gap.host_until = a;
      gap.part(IdleCause::kInGraph) = b - a;
    } else if (launch.end > a) {
      gap.part(IdleCause::kHostLate) = gap.host_until - a;
      gap.part(IdleCause::kLaunchLatency) = b - gap.host_until;
    } else {
      gap.part(IdleCause::kQueued) = b - a;
    }
  }

  void Count(const RawGap& gap) {
    for (size_t cause = 0; cause < kCauses; ++cause) {
      total_[cause] += gap.parts[cause];
      if (gap.parts[cause].ns > 0) ++gaps_with_[cause];
    }
    longest_.Add(gap);
  }

  [[nodiscard]] IdleGap Describe(const RawGap& raw, const HostTree& host) const {
    IdleGap gap;
    gap.device = work_.devices[raw.device].device;
    gap.when = raw.when;
    gap.before = trace_.Text(raw.before);
    gap.after = trace_.Text(raw.after);
    const auto largest = std::ranges::max_element(raw.parts);
    gap.cause = static_cast<IdleCause>(largest - raw.parts.begin());
    if (raw.thread) {
      const Track& track = trace_.words[*raw.thread];
      gap.host_track =
          std::string(trace_.Text(track.pid)) + '/' + std::string(trace_.Text(track.tid));
      const Interval part = raw.host_part();
      if (!part.empty()) gap.host = trace_.Text(HostCover(host, part).Find(*raw.thread));
    }
    return gap;
  }

  const Trace& trace_;
  const DeviceWork& work_;
  const LaunchLinks& links_;
  const Scope& scope_;
  // The device on which a piece of a call's work was seen last: later ones there are inside a
  // graph.
  std::vector<uint32_t> device_of_call_;
  std::array<DurationNs, kCauses> total_{};
  std::array<uint64_t, kCauses> gaps_with_{};
  LongestGaps longest_;
  IdleTable table_;
};

}  // namespace

std::string_view IdleCauseId(IdleCause cause) {
  static constexpr std::array<std::string_view, kCauses> kIds{
      "host-late", "launch-latency", "queued", "in-graph", "host", "unknown"};
  return kIds[static_cast<size_t>(cause)];
}

IdleTable AttributeIdle(const Trace& trace, const DeviceWork& work, const LaunchLinks& links,
                        const Scope& scope, size_t max_gaps) {
  Attribution attribution(trace, work, links, scope, max_gaps);
  for (uint32_t i = 0; i < work.devices.size(); ++i) {
    if (scope.device.empty() || work.devices[i].device == scope.device) attribution.AddDevice(i);
  }
  return std::move(attribution).Finish();
}

}  // namespace tacho
