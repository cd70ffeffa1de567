#include "analysis/device/idle.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/device/beyond_window.h"
#include "analysis/device/earlier_work.h"
#include "analysis/device/longest_gaps.h"
#include "analysis/device/profiler_overhead.h"
#include "analysis/device/stream_waits.h"
#include "analysis/index/host_cover.h"
#include "analysis/index/name_index.h"
#include "analysis/steps/steps.h"
#include "base/interval_set.h"

namespace tacho {
namespace {

// The index of `item` in `items`. kNoItem if `item` is not in `items`: work after the window is
// kept in another list.
uint32_t PlaceAmong(const std::vector<WorkItem>& items, const WorkItem& item) {
  const std::less<const WorkItem*> before;
  const bool is_there = !before(&item, items.data()) && before(&item, items.data() + items.size());
  return is_there ? static_cast<uint32_t>(&item - items.data()) : IdleStretch::kNoItem;
}

class Attribution {
 public:
  Attribution(const TrackIndex& index, const DeviceWork& work, const LaunchLinks& links,
              const Scope& scope, const IntervalSet* in_flight, size_t max_gaps,
              const OnStretch& on_stretch, const KnownCauses& known)
      : index_(index),
        trace_(index.trace()),
        work_(work),
        links_(links),
        scope_(scope),
        in_flight_(in_flight),
        on_stretch_(on_stretch),
        known_(known),
        overhead_(trace_),
        calls_(trace_),
        longest_(max_gaps) {
    const auto steps = StepExtents(index, links, work.on_host);
    for (const auto& [process, of_process] : steps)
      between_steps_.emplace(process, of_process.Gaps());
    if (in_flight != nullptr) {
      for (auto& [process, gaps] : between_steps_) gaps = gaps.Within(*in_flight);
    }
    for (const Track& track : trace_.words.tracks()) {
      between_of_track_.push_back(&between_steps_[track.process]);
    }
    if (work.on_host) {
      SplitHosts();
      return;
    }
    behind_wait_ = CallsBehindWaits(index, links);
    if (scope.window) beyond_ = LookBeyond(trace_, work, *scope.window);
  }

  void AddDevice(uint32_t index) {
    const std::vector<WorkItem>& items = work_.devices[index].items;
    if (!scope_.window && items.empty()) return;
    const Interval window = scope_.window.value_or(work_.devices[index].extent);
    const BeyondWindow* const beyond = beyond_.empty() ? nullptr : &beyond_[index];
    TimeNs reach = window.start;
    std::optional<TimeNs> gap_start = beyond == nullptr ? std::nullopt : beyond->last_end;
    DurationNs idle;
    StringId before{};  // name of the work that ends last
    const auto add_gap = [&](TimeNs end, TimeNs gap_end, std::span<const WorkItem> enders) {
      RawGap& gap = gap_;
      gap.thread.reset();
      gap.after = {};
      gap.after_item = IdleStretch::kNoItem;
      gap.when = {reach, end};
      gap.device = index;
      gap.before = before;
      Attribute(gap, gap_start.value_or(kLongAgo), gap_end, enders);
      idle += gap.when.length();
      Count(gap);
    };
    size_t together = 0;  // index of the first item with the same start
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
      // Names decide ties, so that the order of the file does not matter.
      if (clipped.end == reach
              ? before == StringId::kEmpty || trace_.Text(item.name) < trace_.Text(before)
              : !clipped.empty() && (before == StringId::kEmpty || clipped.end > reach)) {
        before = item.name;
      }
      if (clipped.empty()) continue;  // work of no length does not end a gap
      reach = std::max(reach, clipped.end);
      gap_start = reach;
    }
    if (window.end > reach && beyond != nullptr) {
      add_gap(window.end, beyond->next_start, beyond->next);
    } else if (window.end > reach) {  // here only work of no length starts at the end
      size_t first = items.size();
      while (!scope_.window && first > 0 && items[first - 1].when.start == window.end) --first;
      add_gap(window.end, window.end, std::span(items).subspan(first));
    }
    table_.window += window.length();
    table_.busy += window.length() - idle;
  }

  IdleTable Finish() && {
    for (size_t cause = 0; cause < kIdleCauses; ++cause) {
      if (gaps_with_[cause] == 0) continue;
      table_.causes.push_back({static_cast<IdleCause>(cause), total_[cause], gaps_with_[cause],
                               MainCall(static_cast<IdleCause>(cause))});
    }
    std::ranges::stable_sort(table_.causes, [](const IdleCauseRow& a, const IdleCauseRow& b) {
      return a.total > b.total;
    });
    const std::vector<RawGap> longest = std::move(longest_).Take();
    std::vector<HostStretch> parts;
    for (const RawGap& gap : longest) {
      if (const auto part = gap.host_part()) parts.push_back(*part);
    }
    const HostTree host = SlicesAround(index_, parts);
    const std::vector<std::optional<uint32_t>> frames = MainFrames(index_, parts);
    size_t part = 0;
    for (const RawGap& gap : longest) {
      table_.gaps.push_back(Describe(gap));
      if (!gap.host_part()) continue;
      NameHost(host, parts[part], frames[part], table_.gaps.back());
      ++part;
    }
    return std::move(table_);
  }

 private:
  static constexpr TimeNs kLongAgo{std::numeric_limits<int64_t>::min() / 2};
  static constexpr DurationNs kUsualLatency{1'000'000};

  // The launch call that has at least 80 % of the time of a cause; "" if no call has. For
  // kProfiler: the overhead with most of its time.
  [[nodiscard]] std::string MainCall(IdleCause cause) const {
    constexpr double kNearlyAll = 0.8;
    std::string_view best;
    int64_t most = 0, all = 0;
    for (size_t i = 0; i < of_call_.size(); ++i) {
      const int64_t time = of_call_[i][static_cast<size_t>(cause)].ns;
      const std::string_view name = trace_.Text(calls_.names()[i]);
      all += time;
      if (time < most || time == 0) continue;
      if (time > most || name < best) best = name;
      most = time;
    }
    // Overheads overlap, so their times do not add up.
    const bool stands_for_it = cause == IdleCause::kProfiler ||
                               static_cast<double>(most) >= kNearlyAll * static_cast<double>(all);
    return stands_for_it ? std::string(best) : "";
  }

  [[nodiscard]] uint32_t CallOf(const WorkItem& item) const {
    return work_.on_host ? LaunchLinks::kNone : links_.call_of_gpu[item.row];
  }

  // Returns the item that was launched first. All `items` start together at the end of a gap; the
  // device would have begun the returned item first if nothing had delayed it.
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

  // How much of `when` passed while a request was in flight.
  [[nodiscard]] DurationNs Served(Interval when) const {
    return in_flight_ == nullptr ? when.length() : in_flight_->Covered(when);
  }

  // For each device of a CPU engine: finds when its executing thread was in operators, and when it
  // was between steps.
  void SplitHosts() {
    const std::vector<bool> training = TrainingStepNames(trace_);
    std::vector<std::vector<Interval>> operators(trace_.words.tracks().size());
    for (size_t row = 0; row < trace_.host_ops.size(); ++row) {
      if (!training.empty() && training[Index(trace_.host_ops.name[row])]) continue;
      operators[Index(trace_.host_ops.track[row])].push_back(trace_.host_ops.When(row));
    }
    for (const DeviceItems& device : work_.devices) {
      const IntervalSet in_operators(std::move(operators[Index(device.executor)]));
      const IntervalSet between = BetweenSteps(device.executor).Without(in_operators);
      hosts_.push_back(
          {in_flight_ == nullptr ? in_operators : in_operators.Within(*in_flight_), between});
    }
  }

  // When the process of `track` was between two steps, with a request in flight.
  [[nodiscard]] const IntervalSet& BetweenSteps(TrackId track) const {
    return *between_of_track_[Index(track)];
  }

  // Charges to the profiler the overhead that it recorded on the gap's thread within `when` while a
  // request was in flight. Returns that time. If `between` is given, adds to it the overhead that
  // lies between steps.
  DurationNs ChargeOverhead(RawGap& gap, Interval when, DurationNs* between = nullptr) {
    const IntervalSet& overhead = overhead_.On(*gap.thread);
    if (overhead.empty() || !overhead.Touches(when)) return {};
    DurationNs charged;
    overhead.ForEachPart(when, [&](Interval part, bool in) {
      if (!in) return;
      charged += Served(part);
      if (between != nullptr) *between += BetweenSteps(*gap.thread).Covered(part);
    });
    overhead_.ForEachIn(*gap.thread, when, [&](const ProfilerOverhead::Row& row, Interval part) {
      ChargeName(row.name, IdleCause::kProfiler, Served(part));
    });
    gap.part(IdleCause::kProfiler) += charged;
    return charged;
  }

  // Adds `time` to the total of `name`, a launch call or an overhead.
  void ChargeName(StringId name, IdleCause cause, DurationNs time) {
    const uint32_t number = calls_[name];
    if (number == of_call_.size()) of_call_.emplace_back();
    of_call_[number][static_cast<size_t>(cause)] += time;
  }

  // Splits gap.when by cause. gap.when is the part of the whole gap [a, b) that lies inside the
  // window. `enders`: the items that start together at `b`; one of them ended the gap. Empty if no
  // work ended it.
  void Attribute(RawGap& gap, TimeNs a, TimeNs b, std::span<const WorkItem> enders) {
    const Interval seen = gap.when;
    const DurationNs served = Served(seen);
    gap.part(IdleCause::kNoRequest) = seen.length() - served;
    const WorkItem* const ender = enders.empty() ? nullptr : &FirstLaunched(enders);
    if (ender != nullptr && (b == seen.end || work_.on_host)) {
      gap.after = ender->name;
      gap.after_item = PlaceAmong(work_.devices[gap.device].items, *ender);
    }
    if (work_.on_host) {
      const DurationNs in_operator = hosts_[gap.device].in_operators.Covered(seen);
      const DurationNs between = hosts_[gap.device].between_steps.Covered(seen);
      gap.thread = work_.devices[gap.device].executor;
      gap.host_until = seen.end;
      gap.part(IdleCause::kInOperator) = in_operator;
      gap.part(IdleCause::kBetweenSteps) = between;
      gap.part(IdleCause::kHost) = served - in_operator - between;
      List(gap, seen, IdleCause::kHost);
      return;
    }
    const bool known =
        known_.common_clock && (known_.not_in == nullptr || !known_.not_in->Touches({a, b}));
    const uint32_t call = ender == nullptr || !known ? LaunchLinks::kNone : CallOf(*ender);
    if (call == LaunchLinks::kNone) {
      gap.part(IdleCause::kUnknown) = served;
      List(gap, seen, IdleCause::kUnknown);
      return;
    }
    gap.thread = trace_.host_calls.track[call];
    const Interval launch = trace_.host_calls.When(call);
    gap.host_until = seen.start;
    if (trace_.gpu.start[links_.first.Before(trace_.gpu, call, ender->row)] < b) {
      gap.part(IdleCause::kInGraph) = served;
      List(gap, seen, IdleCause::kInGraph);
      return;
    }
    if (launch.end <= a) {
      gap.part(IdleCause::kQueued) = served;
      List(gap, seen, IdleCause::kQueued);
      return;
    }
    // If the clocks differ, the launch may seem to start after its work.
    const TimeNs begins = std::clamp(launch.start, a, b), ends = std::clamp(launch.end, begins, b);
    const bool held = !behind_wait_.empty() && behind_wait_[call];
    const TimeNs late = held ? ends : std::min(b, ends + kUsualLatency);
    gap.host_until = std::clamp(begins, seen.start, seen.end);
    const Interval host{seen.start, gap.host_until};
    DurationNs overhead_between;
    const DurationNs overhead = ChargeOverhead(gap, host, &overhead_between);
    const DurationNs between = BetweenSteps(*gap.thread).Covered(host) - overhead_between;
    gap.part(IdleCause::kBetweenSteps) = between;
    gap.part(IdleCause::kHostLate) = Served(host) - overhead - between;
    List(gap, host, IdleCause::kHostLate);
    const auto charge = [&](IdleCause cause, TimeNs from, TimeNs to) {
      const Interval part = Interval{from, to}.Clip(seen);
      gap.part(cause) = Served(part);
      if (cause == IdleCause::kInLaunchCall) gap.part(cause) -= ChargeOverhead(gap, part);
      List(gap, part, cause);
      ChargeName(trace_.host_calls.name[call], cause, gap.part(cause));
    };
    charge(IdleCause::kInLaunchCall, begins, ends);
    charge(IdleCause::kLaunchLatency, ends, late);
    charge(IdleCause::kWaiting, late, b);
  }

  // Reports `when`, a part of the gap, as stretches of idle time. The stretches get `cause`, except
  // where a cause that takes precedence applies (no request, profiler, between steps, in operator).
  void List(const RawGap& gap, Interval when, IdleCause cause) {
    if (!on_stretch_) return;
    const auto add = [&](Interval part, IdleCause of_part) {
      on_stretch_({part, gap.device, of_part, gap.before, gap.after, gap.after_item});
    };
    const auto split = [](const IntervalSet& set, Interval whole, auto inside, auto outside) {
      set.ForEachPart(whole, [&](Interval part, bool in) { in ? inside(part) : outside(part); });
    };
    const auto add_served = [&](Interval served) {
      const auto between = [&](Interval part) { add(part, IdleCause::kBetweenSteps); };
      const auto rest = [&](Interval part) { add(part, cause); };
      const auto profiler = [&](Interval part) { add(part, IdleCause::kProfiler); };
      if (cause == IdleCause::kHostLate) {
        split(overhead_.On(*gap.thread), served, profiler,
              [&](Interval part) { split(BetweenSteps(*gap.thread), part, between, rest); });
      } else if (cause == IdleCause::kInLaunchCall) {
        split(overhead_.On(*gap.thread), served, profiler, rest);
      } else if (cause == IdleCause::kHost) {
        const Host& host = hosts_[gap.device];
        split(
            host.in_operators, served, [&](Interval part) { add(part, IdleCause::kInOperator); },
            [&](Interval part) { split(host.between_steps, part, between, rest); });
      } else if (!served.empty()) {
        rest(served);
      }
    };
    if (in_flight_ == nullptr) return add_served(when);
    split(*in_flight_, when, add_served, [&](Interval part) { add(part, IdleCause::kNoRequest); });
  }

  // Adds the gap's parts to the totals and clears them.
  void Count(RawGap& gap) {
    longest_.Add(gap);
    for (size_t cause = 0; cause < kIdleCauses; ++cause) {
      if (gap.parts[cause].ns == 0) continue;
      total_[cause] += gap.parts[cause];
      if (gap.parts[cause].ns > 0) ++gaps_with_[cause];
      gap.parts[cause] = {};
    }
  }

  // Sets gap.host to the name of the operator or call. If there is none: to the name of the
  // annotation or of the Python frame, whichever is the inner one.
  void NameHost(const HostTree& tree, const HostStretch& part, std::optional<uint32_t> frame,
                IdleGap& gap) const {
    const HostTree::Node* const slice = MainSlice(tree, part);
    const SliceTable& frames = trace_.python_frames;
    const bool in_annotation = slice != nullptr && slice->kind == SliceKind::kAnnotation;
    const bool in_frame =
        frame && (slice == nullptr || (in_annotation && IsOuter(slice->when, frames.When(*frame))));
    if (in_frame) {
      gap.host = trace_.Text(frames.name[*frame]);
    } else if (slice != nullptr) {
      gap.host = trace_.Text(slice->name);
      gap.host_is_annotation = in_annotation;
    }
  }

  [[nodiscard]] IdleGap Describe(const RawGap& raw) const {
    IdleGap gap;
    gap.device = work_.devices[raw.device].device;
    gap.when = raw.when;
    gap.before = trace_.Text(raw.before);
    gap.after = trace_.Text(raw.after);
    const auto largest = std::ranges::max_element(raw.parts);
    gap.cause = static_cast<IdleCause>(largest - raw.parts.begin());
    if (raw.thread) {
      const Track& track = trace_.words[*raw.thread];
      gap.host_track = std::string(trace_.Text(trace_.words[track.process].id)) + '/' +
                       std::string(trace_.Text(track.tid));
    }
    return gap;
  }

  const TrackIndex& index_;
  const Trace& trace_;
  const DeviceWork& work_;
  const LaunchLinks& links_;
  const Scope& scope_;
  const IntervalSet* in_flight_;  // null: unknown when requests were in flight
  const OnStretch& on_stretch_;   // empty: the caller wants no stretches
  KnownCauses known_;
  std::map<ProcessId, IntervalSet> between_steps_;    // empty: no step is known
  std::vector<const IntervalSet*> between_of_track_;  // points into between_steps_, by track
  struct Host {
    IntervalSet in_operators, between_steps;  // disjoint
  };
  std::vector<Host> hosts_;           // for each device of a CPU engine
  std::vector<bool> behind_wait_;     // by host call; empty if no call followed a stream wait
  std::vector<BeyondWindow> beyond_;  // for each device; empty without a window
  ProfilerOverhead overhead_;
  NameIndex calls_;                                           // names of launch calls and overheads
  std::vector<std::array<DurationNs, kIdleCauses>> of_call_;  // by the name's number in calls_
  std::array<DurationNs, kIdleCauses> total_{};
  std::array<uint64_t, kIdleCauses> gaps_with_{};
  // The current gap. Between two gaps its `parts` are all 0. Clearing the whole struct each time
  // would cost more than the rest of the work on a gap.
  RawGap gap_;
  LongestGaps longest_;
  IdleTable table_;
};

}  // namespace

IdleTable AttributeIdle(const TrackIndex& index, const DeviceWork& work, const LaunchLinks& links,
                        const Scope& scope, const InFlight* in_flight, size_t max_gaps,
                        const OnStretch& on_stretch, const KnownCauses& causes) {
  const Requests requests =
      in_flight == nullptr ? Requests::kUnknown : CheckInFlight(index.trace(), *in_flight);
  const bool known =
      causes.common_clock && (requests == Requests::kKnown || requests == Requests::kShared);
  Attribution attribution(index, work, links, scope, known ? &in_flight->when : nullptr, max_gaps,
                          on_stretch, causes);
  for (uint32_t i = 0; i < work.devices.size(); ++i) {
    if (scope.device.empty() || work.devices[i].device == scope.device) attribution.AddDevice(i);
  }
  IdleTable table = std::move(attribution).Finish();
  if (!causes.common_clock) return table;
  table.requests = requests;
  table.may_be_busy = MayBeBusyWithEarlierWork(index, links, scope);
  if (known) table.requests_uncertainty = in_flight->uncertainty;
  return table;
}

}  // namespace tacho
