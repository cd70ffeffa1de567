#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "model/trace.h"

namespace tacho {

// Who causes an overhead. Source: nsys's ENUM_CUPTI_OVERHEAD_TYPE, which has "(Profiler)" or
// "(CUDA)" after each kind.
enum class OverheadOwner : uint8_t { kUnknown, kProfiler, kCuda };

struct OverheadKind {
  std::string_view name;  // in lower case; part of the name in the file
  OverheadOwner owner = OverheadOwner::kUnknown;
  std::string_view words;  // what happened: "it allocated a buffer"; "": unknown
  bool is_beside = false;  // the profiler's own thread does it, unless the row names another
};
// The kind of a slice of category "overhead", by its name; all empty for an unknown name.
const OverheadKind& KindOfOverhead(std::string_view name);
std::string_view OverheadOwnerName(OverheadOwner owner);  // "profiler", "cuda", ""

// What the profiler recorded as overhead of the threads that call CUDA: slices of category
// "overhead", by thread. nsys names the thread. Kineto does not (process -1, thread 0): such a
// slice belongs to the only thread that calls, else to the only thread with a call around it, else
// to none. Slices of a kind with `is_beside` belong to no thread.
class ProfilerOverhead {
 public:
  struct Row {
    Interval when;
    StringId name{};
  };

  // Cost: O(n log n) for n overheads and calls; nothing without an overhead.
  explicit ProfilerOverhead(const Trace& trace);

  // Whether any overhead was recorded, on whichever thread.
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
    std::vector<TimeNs> ends;  // by row: the latest end of this row and of all before it
    IntervalSet when;
    // The first row that ends after `t`.
    [[nodiscard]] size_t FirstToReach(TimeNs t) const;
  };

  std::map<TrackId, Overheads> tracks_;
  bool is_recorded_ = false;
};

}  // namespace tacho
