#include "analysis/device/profiler_overhead.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/words.h"

namespace tacho {
namespace {

// Kineto writes "Command Buffer Full", nsys "CUPTI Buffer flush".
constexpr OverheadKind kKinds[] = {
    {"activity buffer request", OverheadOwner::kProfiler, "it allocated a buffer for its records"},
    {"buffer flush", OverheadOwner::kProfiler, "it emptied its buffers", true},
    {"data flush", OverheadOwner::kProfiler, "it emptied its buffers"},
    {"instrumentation", OverheadOwner::kProfiler, "it instrumented the code"},
    {"resource", OverheadOwner::kProfiler, "it created or released what it needs"},
    {"profiling initialization", OverheadOwner::kProfiler, "it started"},
    {"command buffer full", OverheadOwner::kCuda, "the launch queue was full"},
    {"lazy function loading", OverheadOwner::kCuda, "a kernel's code was loaded on its first use"},
    {"module loading", OverheadOwner::kCuda, "the runtime loaded a module"},
    {"driver compiler", OverheadOwner::kCuda, "the driver compiled a kernel"},
    {"driver jit compiler", OverheadOwner::kCuda, "the driver compiled a kernel"},
};

// In files with times in whole microseconds, a slice may stick out of the slice around it by this
// much.
constexpr DurationNs kRounding{1'000};

constexpr std::string_view kCategory = "overhead";

// When each thread that calls CUDA was inside a call.
class CallingThreads {
 public:
  explicit CallingThreads(const Trace& trace) : trace_(trace) {
    std::map<TrackId, std::vector<Interval>> calls;
    for (size_t row = 0; row < trace.host_calls.size(); ++row)
      calls[trace.host_calls.track[row]].push_back(trace.host_calls.When(row));
    for (auto& [track, when] : calls) {
      processes_.insert(trace.words[track].process);
      in_calls_.emplace(track, std::move(when));
    }
  }

  // The thread that an overhead delayed.
  [[nodiscard]] std::optional<TrackId> Of(TrackId track, Interval when,
                                          const OverheadKind& kind) const {
    const Track& own = trace_.words[track];
    if (processes_.contains(own.process) && trace_.Text(own.tid) != "0") return track;
    if (kind.is_beside) return std::nullopt;
    std::optional<TrackId> only, around;
    size_t threads = 0, with_call = 0;
    for (const auto& [thread, in_calls] : in_calls_) {
      if (trace_.words.RankOf(thread) != trace_.words.RankOf(track)) continue;
      ++threads;
      only = thread;
      if (when.length() - in_calls.Covered(when) > kRounding) continue;
      ++with_call;
      around = thread;
    }
    if (threads == 1) return only;
    return with_call == 1 ? around : std::nullopt;
  }

 private:
  const Trace& trace_;
  std::set<ProcessId> processes_;
  std::map<TrackId, IntervalSet> in_calls_;
};

}  // namespace

const OverheadKind& KindOfOverhead(std::string_view name) {
  static constexpr OverheadKind kOther{};
  const std::string lower = AsciiLowered(name);
  const auto found = std::ranges::find_if(
      kKinds, [&](const OverheadKind& kind) { return lower.find(kind.name) != std::string::npos; });
  return found == std::end(kKinds) ? kOther : *found;
}

std::string_view OverheadOwnerName(OverheadOwner owner) {
  switch (owner) {
    case OverheadOwner::kProfiler:
      return "profiler";
    case OverheadOwner::kCuda:
      return "cuda";
    case OverheadOwner::kUnknown:
      break;
  }
  return "";
}

ProfilerOverhead::ProfilerOverhead(const Trace& trace) {
  std::vector<bool> is_overhead;  // indexed by CategoryId
  for (const Category& category : trace.words.categories())
    is_overhead.push_back(trace.Text(category.name) == kCategory);
  if (std::ranges::find(is_overhead, true) == is_overhead.end()) return;
  const OtherSliceTable& others = trace.others;
  std::optional<CallingThreads> threads;
  for (size_t row = 0; row < others.size(); ++row) {
    if (!is_overhead[Index(others.category[row])]) continue;
    is_recorded_ = true;
    if (!threads) threads.emplace(trace);
    const Interval when = others.When(row);
    const auto track =
        threads->Of(others.track[row], when, KindOfOverhead(trace.Text(others.name[row])));
    if (track) tracks_[*track].rows.push_back({when, others.name[row]});
  }
  for (auto& [track, of] : tracks_) {
    std::ranges::stable_sort(of.rows, {}, [](const Row& row) { return row.when.start; });
    std::vector<Interval> when;
    for (const Row& row : of.rows) {
      when.push_back(row.when);
      of.ends.push_back(of.ends.empty() ? row.when.end : std::max(of.ends.back(), row.when.end));
    }
    of.when = IntervalSet(std::move(when));
  }
}

const IntervalSet& ProfilerOverhead::On(TrackId track) const {
  static const IntervalSet kNone;
  const auto found = tracks_.find(track);
  return found == tracks_.end() ? kNone : found->second.when;
}

size_t ProfilerOverhead::Overheads::FirstToReach(TimeNs t) const {
  return static_cast<size_t>(std::ranges::upper_bound(ends, t) - ends.begin());
}

}  // namespace tacho
