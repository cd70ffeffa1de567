#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "model/trace.h"

namespace tacho {

// Whose time an overhead is. Source: nsys's ENUM_CUPTI_OVERHEAD_TYPE, which has "(Profiler)" or
// "(CUDA)" behind each kind.
enum class OverheadOwner : uint8_t { kUnknown, kProfiler, kCuda };

struct OverheadKind {
  std::string_view name;  // in lower case; part of the name in the file
  OverheadOwner owner = OverheadOwner::kUnknown;
  std::string_view words;  // what happened: "it allocated a buffer"; "": unknown
  bool is_beside = false;  // a thread of the profiler's own does it, unless the row says else
};
// Of a slice of category "overhead" by its name; all empty for an unknown one.
const OverheadKind& KindOfOverhead(std::string_view name);
std::string_view OverheadOwnerName(OverheadOwner owner);  // "profiler", "cuda", ""

// What the profiler recorded as overhead of the threads that call CUDA: slices of category
// "overhead", by thread. nsys names the thread. Kineto does not (process -1, thread 0): such a
// slice is of the only thread that calls, else of the only one with a call that it lies in, else of
// none. Those that are beside are of none.
class ProfilerOverhead {
 public:
  struct Row {
    Interval when;
    StringId name{};
  };

  // Cost: O(n log n) for n overheads and calls; nothing without an overhead.
  explicit ProfilerOverhead(const Trace& trace);

  // Whether the trace has any, of whichever thread.
  [[nodiscard]] bool is_recorded() const { return is_recorded_; }
  // When `track` was in overhead.
  [[nodiscard]] const IntervalSet& On(TrackId track) const;
  // Calls visit(row, part of `when`) for each overhead of `track` that overlaps it.
  template <typename Visit>
  void ForEachIn(TrackId track, Interval when, Visit visit) const {
    const auto found = tracks_.find(track);
    if (found == tracks_.end()) return;
    const Overheads& of = found->second;
    for (size_t i = of.FirstToReach(when.start); i < of.rows.size(); ++i) {
      if (of.rows[i].when.start >= when.end) return;
      const Interval part = of.rows[i].when.Clip(when);
      if (!part.empty()) visit(of.rows[i], part);
    }
  }

 private:
  struct Overheads {
    std::vector<Row> rows;     // by start
    std::vector<TimeNs> ends;  // by row: the latest of its end and those before
    IntervalSet when;
    // The first row that ends after `t`.
    [[nodiscard]] size_t FirstToReach(TimeNs t) const;
  };

  std::map<TrackId, Overheads> tracks_;
  bool is_recorded_ = false;
};

}  // namespace tacho
