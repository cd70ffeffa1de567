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

// Which calls lost their work.
enum class LossPattern : uint8_t {
  kNone,
  // The first calls of the recording, or the last ones, or both, and none in between. CUPTI before
  // CUDA 13.1 loses the first k calls of the k-th session of a process (pytorch issue 192021).
  kStart,
  kEnd,
  kStartAndEnd,
  kAllGraphs,     // all graph launches, and no other call
  kAllOfAThread,  // all calls of some threads, and no other call
  kAllButOneIn,   // the calls of one API, except every n-th one
  kInARow,        // consecutive calls in the middle of the recording
  kSpread,        // any other
  kCount,
};
std::string_view LossPatternId(LossPattern pattern);  // "start", "all-but-one-in", ...

// GPU work that was launched in the recording but has no row in the trace (a row is one GPU
// record).
struct LostWork {
  uint64_t calls = 0;           // number of calls that were checked: RowlessCalls::judged
  uint64_t lost_calls = 0;      // how many of them have no row
  uint64_t partial_graphs = 0;  // graph launches that have only some of their rows
  // The least number of pieces without a row: one for each lost call, and what the graphs lack.
  uint64_t lost_events = 0;
  // Numbers of calls that cannot have a row: see RowlessCalls.
  uint64_t captured = 0, failed = 0, cut_off = 0;
  LossPattern pattern = LossPattern::kNone;
  uint64_t one_in = 0;  // the n of kAllButOneIn
  struct Api {
    std::string name;
    uint64_t calls = 0, lost = 0;  // `lost` includes graph launches that lack some rows
  };
  std::vector<Api> apis;  // only APIs that lost work, sorted by `lost`, most first, then by name
  TimeNs first;           // the start of the first call that lost work
  // How long the scope's devices did not compute while lost or cut-off work may have run
  // (DoubtfulTime).
  DurationNs in_doubt;

  [[nodiscard]] bool any() const { return lost_events > 0; }
  // Whether nothing is lost between calls whose work is there.
  [[nodiscard]] bool at_edges() const {
    return pattern == LossPattern::kNone || pattern == LossPattern::kStart ||
           pattern == LossPattern::kEnd || pattern == LossPattern::kStartAndEnd;
  }
};

// The words in front of "GPU work of N calls" in a message about `lost` calls, if `partial` of them
// lack only a part of their work.
constexpr std::string_view HowMuchIsLost(uint64_t partial, uint64_t lost) {
  if (partial == 0) return "";
  return partial == lost ? "part of the " : "all or part of the ";
}

struct FoundLosses {
  LostWork lost;
  // Calls whose work is lost or cut off, in part or entirely (rows of Trace::host_calls, sorted).
  std::vector<uint32_t> incomplete_calls = {};
  IntervalSet when = {};  // when that work may have run
};
// Cost: O(n).
FoundLosses FindLostWork(const TrackIndex& index, const LaunchLinks& links, const DeviceWork& work,
                         const Scope& scope, const ClocksBound& clocks = {});

}  // namespace tacho
