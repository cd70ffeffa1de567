#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/device_work.h"
#include "analysis/device/launches.h"
#include "analysis/evidence/doubtful_time.h"
#include "analysis/scope.h"
#include "base/interval_set.h"
#include "model/track_index.h"

namespace tacho {

// Which of the calls lost their work.
enum class LossPattern : uint8_t {
  kNone,
  // The first calls of the recording, or the last: no call in between lost work. CUPTI before CUDA
  // 13.1 loses the first k of the k-th session of a process (pytorch issue 192021).
  kStart,
  kEnd,
  kStartAndEnd,
  kAllGraphs,     // every graph launch, and no other call
  kAllOfAThread,  // every call of some threads, and no other call
  kAllButOneIn,   // of one API, all calls but every n-th
  kInARow,        // consecutive calls
  kSpread,
  kCount,
};
std::string_view LossPatternId(LossPattern pattern);  // "start", "all-but-one-in", ...

// GPU work that was launched in the recording but has no row in it.
struct LostWork {
  uint64_t calls = 0;           // RowlessCalls::judged
  uint64_t lost_calls = 0;      // without any row
  uint64_t partial_graphs = 0;  // graph launches that lack some rows
  // The least number of pieces without a row: one for each lost call, and what the graphs lack.
  uint64_t lost_events = 0;
  uint64_t captured = 0, failed = 0, cut_off = 0;  // calls that never have a row: see RowlessCalls
  LossPattern pattern = LossPattern::kNone;
  uint64_t one_in = 0;  // the n of kAllButOneIn
  struct Api {
    std::string name;
    uint64_t calls = 0, lost = 0;  // lost: includes graph launches that lack some
  };
  std::vector<Api> apis;  // those that lost any, most lost first, then by name
  TimeNs first;           // the start of the first call that lost any
  // Time of the scope's devices without computation in which work that is lost or cut off may have
  // run (DoubtfulTime).
  DurationNs in_doubt;

  [[nodiscard]] bool any() const { return lost_events > 0; }
  // Whether the calls whose work is there are consecutive: nothing is lost between them.
  [[nodiscard]] bool at_edges() const {
    return pattern == LossPattern::kNone || pattern == LossPattern::kStart ||
           pattern == LossPattern::kEnd || pattern == LossPattern::kStartAndEnd;
  }
};

// The words in front of "GPU work of N calls", if these calls lack work. `partial` of the `lost`
// calls lack only a part of it.
constexpr std::string_view HowMuchIsLost(uint64_t partial, uint64_t lost) {
  if (partial == 0) return "";
  return partial == lost ? "part of the " : "all or part of the ";
}

struct FoundLosses {
  LostWork lost;
  // Calls (rows of Trace::host_calls, sorted) whose work is lost or cut off, in part or all.
  std::vector<uint32_t> incomplete_calls = {};
  IntervalSet when = {};  // when lost work may have run
};
// Cost: O(n).
FoundLosses FindLostWork(const TrackIndex& index, const LaunchLinks& links, const DeviceWork& work,
                         const Scope& scope, const ClocksBound& clocks = {});

}  // namespace tacho
