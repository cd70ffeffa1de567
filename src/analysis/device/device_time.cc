#include "analysis/device/device_time.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tacho {
namespace {

constexpr size_t Bit(WorkKind kind) { return size_t{1} << static_cast<size_t>(kind); }
constexpr size_t kComputing = Bit(WorkKind::kCompute) | Bit(WorkKind::kMemset);
constexpr size_t kCommunicating = Bit(WorkKind::kCommunication);
constexpr size_t kCopying = Bit(WorkKind::kCopy);
constexpr size_t kKernels = Bit(WorkKind::kCompute) | Bit(WorkKind::kCommunication);

// Walks along the time of one device and charges each stretch to the set of kinds that run in it,
// and to the number of items that run in it.
class Sweep {
 public:
  explicit Sweep(DeviceTime& time) : time_(time), now_(time.window.start) {}

  void Start(Interval when, WorkKind kind) {
    AdvanceTo(when.start);
    running_.emplace_back(when.end, kind);
    std::ranges::push_heap(running_, kLaterEnd);
    if (++of_kind_[static_cast<size_t>(kind)] == 1) kinds_ |= Bit(kind);
  }

  void AdvanceTo(TimeNs t) {
    while (!running_.empty() && running_.front().first <= t) {
      Charge(running_.front().first);
      std::ranges::pop_heap(running_, kLaterEnd);
      const WorkKind kind = running_.back().second;
      if (--of_kind_[static_cast<size_t>(kind)] == 0) kinds_ &= ~Bit(kind);
      running_.pop_back();
    }
    Charge(t);
  }

 private:
  using Running = std::pair<TimeNs, WorkKind>;  // end and kind
  static constexpr auto kLaterEnd = [](const Running& a, const Running& b) {
    return a.first > b.first;
  };

  void Charge(TimeNs t) {
    const DurationNs passed = t - now_;
    now_ = t;
    time_.by_kinds[kinds_] += passed;
    time_.by_concurrency[std::min(running_.size(), time_.by_concurrency.size() - 1)] += passed;
  }

  DeviceTime& time_;
  TimeNs now_;
  std::vector<Running> running_;  // a heap, the item that ends first on top; few items run at once
  std::array<uint32_t, 4> of_kind_{};
  size_t kinds_ = 0;  // the kinds that run now, one bit each
};

void CountGap(GapCounts& gaps, DurationNs length) {
  ++gaps.count;
  if (length.ns > 1'000) ++gaps.over_1us;
  if (length.ns > 10'000) ++gaps.over_10us;
  if (length.ns > 100'000) ++gaps.over_100us;
  if (length.ns > 1'000'000) ++gaps.over_1ms;
  gaps.largest = std::max(gaps.largest, length);
}

// What the sweep knows about one stream so far.
struct StreamSweep {
  std::optional<TimeNs> reach;          // the largest end so far
  TimeNs busy_until;                    // the largest end within the window
  std::vector<CategoryRow> categories;  // by WorkCategory, then one for copies and one for memsets
};

std::vector<CategoryRow> EmptyCategories(const std::vector<std::string>& of_kernels) {
  std::vector<CategoryRow> rows;
  for (const std::string& name : of_kernels) rows.emplace_back().category = name;
  for (const WorkKind kind : {WorkKind::kCopy, WorkKind::kMemset}) {
    rows.emplace_back().category = WorkKindName(kind);
  }
  return rows;
}

CategoryRow& CategoryOf(const WorkItem& item, std::vector<CategoryRow>& categories) {
  if (item.kind == WorkKind::kMemset) return categories.back();
  return item.kind == WorkKind::kCopy ? *(categories.end() - 2) : categories[item.category];
}

void AddToStream(StreamTime& stream, StreamSweep& sweep, const WorkItem& item, Interval clipped,
                 bool counts) {
  CategoryRow& category = CategoryOf(item, sweep.categories);
  if (counts) {
    ++stream.events;
    ++category.count;
    if (sweep.reach && item.when.start < *sweep.reach) ++stream.overlaps;
  }
  sweep.reach = std::max(sweep.reach.value_or(item.when.end), item.when.end);
  stream.sum += clipped.length();
  stream.by_kind[static_cast<size_t>(item.kind)] += clipped.length();
  category.total += clipped.length();
  const TimeNs from = std::max(clipped.start, sweep.busy_until);
  if (clipped.end > from) {
    stream.busy += clipped.end - from;
    sweep.busy_until = clipped.end;
  }
}

// Adds up the cells of by_kinds for which `wanted` holds.
template <typename Predicate>
DurationNs SumKinds(const DeviceTime& time, Predicate wanted) {
  DurationNs sum;
  for (size_t kinds = 0; kinds < time.by_kinds.size(); ++kinds) {
    if (wanted(kinds)) sum += time.by_kinds[kinds];
  }
  return sum;
}

void SumUp(DeviceTime& time) {
  const auto any = [](size_t mask) { return [mask](size_t kinds) { return (kinds & mask) != 0; }; };
  time.idle = time.by_kinds[0];
  time.busy = time.window.length() - time.idle;
  time.compute = SumKinds(time, any(kComputing));
  time.exposed_comm = SumKinds(time, [](size_t kinds) {
    return (kinds & kComputing) == 0 && (kinds & kCommunicating) != 0;
  });
  time.exposed_copy = SumKinds(time, [](size_t kinds) { return kinds == kCopying; });
  time.kernel_busy = SumKinds(time, any(kKernels));
  time.comm_busy = SumKinds(time, any(kCommunicating));
  time.copy_busy = SumKinds(time, any(kCopying));
}

DeviceTime Decompose(const DeviceItems& device, const DeviceWork& work, const Scope& scope) {
  DeviceTime time;
  time.device = device.device;
  time.on_host = work.on_host;
  time.window = scope.window.value_or(device.extent);
  for (const std::string& stream : device.streams) time.streams.emplace_back().stream = stream;
  if (time.window.empty() && device.items.empty()) return time;

  Sweep sweep(time);
  std::vector<StreamSweep> streams(device.streams.size(),
                                   {{}, time.window.start, EmptyCategories(work.categories)});
  TimeNs reach = time.window.start;  // the end of all work so far
  for (const WorkItem& item : device.items) {
    if (!Touches(scope, item.when)) continue;
    const Interval clipped = scope.Clip(item.when);
    const bool counts = !item.continued && scope.Counts(item.when.start);
    if (counts) ++time.gpu_events;
    AddToStream(time.streams[item.stream], streams[item.stream], item, clipped, counts);
    if ((Bit(item.kind) & kKernels) != 0) time.kernel_sum += clipped.length();
    if (clipped.empty()) continue;  // work of no length does not end a gap
    if (clipped.start > reach) CountGap(time.gaps, clipped.start - reach);
    reach = std::max(reach, clipped.end);
    sweep.Start(clipped, item.kind);
  }
  if (time.window.end > reach) CountGap(time.gaps, time.window.end - reach);
  if (!time.window.empty()) sweep.AdvanceTo(time.window.end);
  for (size_t i = 0; i < streams.size(); ++i) {
    time.streams[i].categories = SortedCategories(std::move(streams[i].categories));
  }
  SumUp(time);
  return time;
}

}  // namespace

void ForgetIdleTime(DeviceTime& time) {
  time.whole = false;
  time.idle = time.exposed_comm = time.exposed_copy = {};
  time.by_kinds = {};
  time.by_concurrency = {};
  time.gaps = {};
}

std::vector<DeviceTime> DecomposeDeviceTime(const DeviceWork& work, const Scope& scope) {
  std::vector<DeviceTime> times;
  for (const DeviceItems& device : work.devices) {
    if (scope.device.empty() || device.device == scope.device) {
      times.push_back(Decompose(device, work, scope));
    }
  }
  return times;
}

}  // namespace tacho
