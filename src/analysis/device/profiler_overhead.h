#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "model/trace.h"

namespace tacho {

// Who causes an overhead. Source: nsys's ENUM_CUPTI_OVERHEAD_TYPE; the name of each kind in it ends
// in "(Profiler)" or "(CUDA)".
enum class OverheadOwner : uint8_t { kUnknown, kProfiler, kCuda };

struct OverheadKind {
  std::string_view name;  // in lower case; found anywhere in the name that the file gives
  OverheadOwner owner = OverheadOwner::kUnknown;
  std::string_view words;  // what happened, such as "it allocated a buffer"; "": unknown
  // The profiler's own thread does it, unless the file names another thread.
  bool is_beside = false;
};
// The kind of a slice of category "overhead", found by its name. All members are empty if the name
// is unknown.
const OverheadKind& KindOfOverhead(std::string_view name);
std::string_view OverheadOwnerName(OverheadOwner owner);  // "profiler", "cuda", ""

// The overhead that the profiler recorded (slices of category "overhead"), by the thread that it
// delayed. nsys names the thread. Kineto writes process -1, thread 0 instead. Such a slice belongs
// to the only thread that calls CUDA; if several threads do, to the only one that has a call around
// the slice; otherwise to no thread. Slices of a kind with `is_beside` belong to no thread either.
class ProfilerOverhead {
 public:
  struct Row {
    Interval when;
    StringId name{};
  };

  // Cost: O(n log n) for n overheads and calls; nothing without an overhead.
  explicit ProfilerOverhead(const Trace& trace);

  // Whether any overhead was recorded, for any thread or for none.
  [[nodiscard]] bool is_recorded() const { return is_recorded_; }
  // When `track` was delayed by overhead.
  [[nodiscard]] const IntervalSet& On(TrackId track) const;
  // Calls visit(row, the part of the row inside `when`) for each overhead of `track` that overlaps
  // `when`.
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
    std::vector<Row> rows;     // sorted by start
    std::vector<TimeNs> ends;  // for each row: the latest end among it and all rows before it
    IntervalSet when;
    // The first row that ends after `t`.
    [[nodiscard]] size_t FirstToReach(TimeNs t) const;
  };

  std::map<TrackId, Overheads> tracks_;
  bool is_recorded_ = false;
};

}  // namespace tacho
