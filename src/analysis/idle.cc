#include "analysis/idle.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/host_nesting.h"
#include "analysis/name_index.h"

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

// Which calls put work onto a stream that the same thread had told to wait for an event since its
// last such call, by host call. The calls do not tell their stream. Empty when there is no wait.
std::vector<bool> CallsBehindWaits(const Trace& trace, const LaunchLinks& links) {
  const HostCallTable& calls = trace.host_calls;
  NameIndex names(trace);
  std::vector<bool> is_wait;
  std::vector<uint32_t> rows;  // calls that wait or put work
  bool any_wait = false;
  std::vector<bool> puts_work(calls.size()), waits(calls.size());
  for (const uint32_t call : links.call_of_gpu) {
    if (call != LaunchLinks::kNone) puts_work[call] = true;
  }
  for (uint32_t row = 0; row < calls.size(); ++row) {
    const uint32_t name = names[calls.name[row]];
    if (name == is_wait.size()) {
      is_wait.push_back(trace.Text(calls.name[row]).find("StreamWaitEvent") !=
                        std::string_view::npos);
    }
    waits[row] = is_wait[name];
    any_wait = any_wait || waits[row];
    if (waits[row] || puts_work[row]) rows.push_back(row);
  }
  if (!any_wait) return {};
  std::ranges::sort(rows, [&](uint32_t a, uint32_t b) {
    return std::tuple(calls.track[a], calls.start[a], !waits[a], a) <
           std::tuple(calls.track[b], calls.start[b], !waits[b], b);
  });
  std::vector<bool> behind(calls.size());
  bool waiting = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && calls.track[rows[i]] != calls.track[rows[i - 1]]) waiting = false;
    if (!waits[rows[i]]) behind[rows[i]] = waiting;
    waiting = waits[rows[i]];
  }
  return behind;
}

// What a device does outside of a scope's window: where the gaps at its two ends begin and end.
struct BeyondWindow {
  std::optional<TimeNs> last_end;  // of the work before
  TimeNs next_start;               // of the work behind
  std::vector<WorkItem> next;      // what starts then; empty: nothing does
};

std::vector<BeyondWindow> LookBeyond(const Trace& trace, const DeviceWork& work,
                                     const Interval& window) {
  std::vector<BeyondWindow> beyond(work.devices.size());
  std::unordered_map<std::string_view, uint32_t> devices;
  for (uint32_t i = 0; i < work.devices.size(); ++i) devices.emplace(work.devices[i].device, i);
  std::vector<BeyondWindow*> of_stream;
  for (const Stream& stream : trace.words.streams()) {
    const auto device = devices.find(trace.Text(stream.device));
    of_stream.push_back(device == devices.end() ? nullptr : &beyond[device->second]);
  }
  for (const bool collect : {false, true}) {
    for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
      BeyondWindow* const device = of_stream[Index(trace.gpu.stream[row])];
      if (device == nullptr) continue;
      const Interval when = trace.gpu.When(row);
      if (collect) {
        if (!device->next.empty() && when.start == device->next_start && row != device->next[0].row)
          device->next.push_back({.when = when, .name = trace.gpu.name[row], .row = row});
      } else if (when.empty()) {
        continue;
      } else if (when.end <= window.start) {
        device->last_end = std::max(device->last_end.value_or(when.end), when.end);
      } else if (when.start >= window.end &&
                 (device->next.empty() || when.start < device->next_start)) {
        device->next_start = when.start;
        device->next = {{.when = when, .name = trace.gpu.name[row], .row = row}};
      }
    }
  }
  return beyond;
}

class Attribution {
 public:
  Attribution(const Trace& trace, const DeviceWork& work, const LaunchLinks& links,
              const Scope& scope, size_t max_gaps)
      : trace_(trace), work_(work), links_(links), scope_(scope), longest_(max_gaps) {
    if (work.on_host) return;
    first_.emplace(trace, links);
    behind_wait_ = CallsBehindWaits(trace, links);
    if (scope.window) beyond_ = LookBeyond(trace, work, *scope.window);
  }

  void AddDevice(uint32_t index) {
    const std::vector<WorkItem>& items = work_.devices[index].items;
    if (!scope_.window && items.empty()) return;
    Interval window = scope_.window.value_or(Interval{});
    if (!scope_.window) {
      window = {items.front().when.start, items.front().when.end};
      for (const WorkItem& item : items) window.end = std::max(window.end, item.when.end);
    }
    const BeyondWindow* const beyond = beyond_.empty() ? nullptr : &beyond_[index];
    TimeNs reach = window.start;
    std::optional<TimeNs> gap_start = beyond == nullptr ? std::nullopt : beyond->last_end;
    DurationNs idle;
    StringId before{};  // the work that reaches furthest
    const auto add_gap = [&](TimeNs end, TimeNs gap_end, std::span<const WorkItem> enders) {
      RawGap gap;
      gap.when = {reach, end};
      gap.device = index;
      gap.before = before;
      Attribute(gap, gap_start.value_or(kLongAgo), gap_end, enders);
      idle += gap.when.length();
      Count(gap);
    };
    size_t together = 0;  // the first of the items that start with this one
    for (size_t i = 0; i < items.size(); ++i) {
      const WorkItem& item = items[i];
      if (item.when.start != items[together].when.start) together = i;
      const Interval clipped = scope_.Clip(item.when);
      if (!Touches(scope_, item.when)) continue;
      if (clipped.start > reach && !clipped.empty()) {
        size_t end = i + 1;
        while (end < items.size() && items[end].when.start == item.when.start) ++end;
        add_gap(clipped.start, clipped.start, std::span(items).subspan(together, end - together));
      }
      // Names decide between equals: the order of the file must not.
      if (clipped.end == reach
              ? before == StringId::kEmpty || trace_.Text(item.name) < trace_.Text(before)
              : !clipped.empty() && (before == StringId::kEmpty || clipped.end > reach)) {
        before = item.name;
      }
      if (clipped.empty()) continue;  // ends no gap
      reach = std::max(reach, clipped.end);
      gap_start = reach;
    }
    if (window.end > reach && beyond != nullptr) {
      add_gap(window.end, beyond->next_start, beyond->next);
    } else if (window.end > reach) {  // pieces without a length stand at the end
      size_t first = items.size();
      while (!scope_.window && first > 0 && items[first - 1].when.start == window.end) --first;
      add_gap(window.end, window.end, std::span(items).subspan(first));
    }
    table_.window += window.length();
    table_.busy += window.length() - idle;
  }

  IdleTable Finish() && {
    for (size_t cause = 0; cause < kCauses; ++cause) {
      if (gaps_with_[cause] == 0) continue;
      table_.causes.push_back({static_cast<IdleCause>(cause), total_[cause], gaps_with_[cause],
                               MainCall(static_cast<IdleCause>(cause))});
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
  static constexpr TimeNs kLongAgo{std::numeric_limits<int64_t>::min() / 2};
  static constexpr DurationNs kUsualLatency{1'000'000};

  // The name of the launch call that most of the time of a cause belongs to.
  [[nodiscard]] std::string MainCall(IdleCause cause) const {
    const auto time_of = [&](const auto& entry) {
      return entry.second[static_cast<size_t>(cause)].ns;
    };
    std::string_view best;
    int64_t most = 0;
    for (const auto& entry : of_call_) {
      const std::string_view name = trace_.Text(entry.first);
      if (time_of(entry) < most || time_of(entry) == 0) continue;
      if (time_of(entry) > most || name < best) best = name;
      most = time_of(entry);
    }
    return std::string(best);
  }

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

  // Splits the part gap.when of the gap [a, b) that one of `enders` ended; none: nothing did.
  void Attribute(RawGap& gap, TimeNs a, TimeNs b, std::span<const WorkItem> enders) {
    const Interval seen = gap.when;
    const WorkItem* const ender = enders.empty() ? nullptr : &FirstLaunched(enders);
    if (ender != nullptr && (b == seen.end || work_.on_host)) gap.after = ender->name;
    if (work_.on_host) {
      gap.thread = work_.devices[gap.device].executor;
      gap.host_until = seen.end;
      gap.part(IdleCause::kHost) = seen.length();
      return;
    }
    const uint32_t call = ender == nullptr ? LaunchLinks::kNone : CallOf(*ender);
    if (call == LaunchLinks::kNone) {
      gap.part(IdleCause::kUnknown) = seen.length();
      return;
    }
    gap.thread = trace_.host_calls.track[call];
    const Interval launch = trace_.host_calls.When(call);
    gap.host_until = seen.start;
    if (trace_.gpu.start[first_->Before(trace_.gpu, call, ender->row)] < b) {
      gap.part(IdleCause::kInGraph) = seen.length();
      return;
    }
    if (launch.end <= a) {
      gap.part(IdleCause::kQueued) = seen.length();
      return;
    }
    // A clock that is off may have the launch start after the work.
    const TimeNs begins = std::clamp(launch.start, a, b), ends = std::clamp(launch.end, begins, b);
    const bool held = !behind_wait_.empty() && behind_wait_[call];
    const TimeNs late = held ? ends : std::min(b, ends + kUsualLatency);
    gap.host_until = std::clamp(begins, seen.start, seen.end);
    auto& of_call = of_call_[trace_.host_calls.name[call]];
    const auto charge = [&](IdleCause cause, TimeNs from, TimeNs to) {
      const DurationNs part = Interval{from, to}.Clip(seen).length();
      gap.part(cause) = part;
      if (cause != IdleCause::kHostLate) of_call[static_cast<size_t>(cause)] += part;
    };
    charge(IdleCause::kHostLate, a, begins);
    charge(IdleCause::kInLaunchCall, begins, ends);
    charge(IdleCause::kLaunchLatency, ends, late);
    charge(IdleCause::kWaiting, late, b);
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
  std::optional<FirstPieces> first_;  // absent on a CPU engine
  std::vector<bool> behind_wait_;     // by host call; empty: none is
  std::vector<BeyondWindow> beyond_;  // by device; empty without a window
  std::unordered_map<StringId, std::array<DurationNs, kCauses>> of_call_;  // by name of the launch
  std::array<DurationNs, kCauses> total_{};
  std::array<uint64_t, kCauses> gaps_with_{};
  LongestGaps longest_;
  IdleTable table_;
};

}  // namespace

std::string_view IdleCauseId(IdleCause cause) {
  static constexpr std::array<std::string_view, kCauses> kIds{
      "host-late", "in-launch-call", "launch-latency", "waiting",
      "queued",    "in-graph",       "host",           "unknown"};
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
