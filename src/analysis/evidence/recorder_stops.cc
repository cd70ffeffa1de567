#include "analysis/evidence/recorder_stops.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/steps/step_grammar.h"
#include "base/words.h"

namespace tacho {
namespace {

constexpr uint64_t kFewestWith = 3, kFewestOutside = 3, kFewestOperators = 8;
constexpr size_t kFewestOperatorNames = 3;
// The lower limits for `may_have_stopped` and `may_have_begun`.
constexpr uint64_t kFewestWithSuspect = 2;
constexpr size_t kFewestNamesSuspect = 2;

// The kind of a range: steps such as "execute_context_0(0)_generation_8(8)" have one kind, whatever
// their batch.
std::string WithoutDigits(std::string_view name) {
  std::string kept;
  for (const char c : name) {
    if (!IsDigit(c)) kept += c;
  }
  return kept;
}

// Numbers of ranges of one kind.
struct Kind {
  uint64_t with = 0, without = 0;  // with and without calls inside, while calls were recorded
  uint64_t before = 0, after = 0;  // before the first call, after the last one
};

class Kinds {
 public:
  Kinds(const Trace& trace, Interval with_calls, Interval recorded)
      : trace_(trace), with_calls_(with_calls), recorded_(recorded) {}

  // Adds the ranges of one thread, and its calls; both must be sorted by start. Of nested ranges
  // only the outermost one counts.
  void Add(const SliceTable& table, const RowList& ranges, const RowList& calls) {
    const auto outside = [&](uint32_t row) {
      const Interval when = table.When(row);
      return when.start >= with_calls_.end || when.end <= with_calls_.start;
    };
    // On most threads no range lies before or after the calls, so there is nothing to count.
    if (calls.empty() || ranges.empty() ||
        (!outside(ranges[0]) && !outside(ranges[ranges.size() - 1])))
      return;
    const HostCallTable& host_calls = trace_.host_calls;
    size_t next = 0;  // the first call that does not start before the range
    TimeNs outer_end;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Interval when = table.When(ranges[i]);
      if (i > 0 && when.start < outer_end && when.end <= outer_end) continue;
      outer_end = when.end;
      if (IsWithoutWork(table.name[ranges[i]])) continue;
      while (next < calls.size() && host_calls.start[calls[next]] < when.start) ++next;
      Kind& kind = OfName(table.name[ranges[i]]);
      // Ranges after the last call do not count while device work of a deep queue still runs, since
      // the recorder then still runs too.
      if (when.start >= with_calls_.end) {
        kind.after += when.start >= recorded_.end;
      } else if (when.end <= with_calls_.start) {
        kind.before += when.end <= recorded_.start;
      } else {
        const bool holds = next < calls.size() && host_calls.start[calls[next]] < when.end;
        const bool is_inside = with_calls_.start <= when.start && when.end <= with_calls_.end;
        if (holds) ++kind.with;
        if (!holds && is_inside) ++kind.without;
      }
    }
  }

  // The witness kinds, and their ranges on one side: before the first call, or after the last one.
  struct Witnesses {
    uint64_t ranges = 0;
    size_t kinds = 0, of = 0;  // number of witness kinds with ranges on that side, and of all
    std::string name;          // of the kind with the most ranges on that side
  };
  [[nodiscard]] Witnesses Of(uint64_t Kind::*side, uint64_t fewest_with = kFewestWith) const {
    Witnesses found;
    uint64_t most = 0;
    for (const auto& [name, kind] : by_name_) {
      if (kind.without > 0 || kind.with < fewest_with) continue;
      ++found.of;
      if (kind.*side == 0) continue;
      ++found.kinds;
      found.ranges += kind.*side;
      if (kind.*side > most) found.name = name;
      most = std::max(most, kind.*side);
    }
    return found;
  }

 private:
  // Whether it is an empty step, such as an engine takes while it waits for other engines.
  [[nodiscard]] bool IsWithoutWork(StringId name) {
    const auto [at, added] = without_work_.try_emplace(name, false);
    if (added) {
      const auto step = ParseStep(trace_.Text(name));
      at->second = step && step->label.phase == Phase::kEmpty;
    }
    return at->second;
  }
  Kind& OfName(StringId name) {
    const auto [at, added] = kinds_.try_emplace(name, nullptr);
    if (added) at->second = &by_name_[WithoutDigits(trace_.Text(name))];
    return *at->second;
  }

  const Trace& trace_;
  Interval with_calls_, recorded_;
  std::map<std::string, Kind> by_name_;
  std::map<StringId, Kind*> kinds_;
  std::map<StringId, bool> without_work_;
};

}  // namespace

RecorderStops FindRecorderStops(const TrackIndex& index) {
  const Trace& trace = index.trace();
  RecorderStops stops;
  if (trace.host_calls.size() == 0) return stops;
  Interval with_calls = trace.host_calls.When(0);
  const auto extend = [](Interval& all, Interval when) {
    all = {std::min(all.start, when.start), std::max(all.end, when.end)};
  };
  for (size_t row = 0; row < trace.host_calls.size(); ++row)
    extend(with_calls, trace.host_calls.When(row));
  Interval recorded = with_calls;  // later extended to device work
  for (size_t row = 0; row < trace.gpu.size(); ++row) extend(recorded, trace.gpu.When(row));
  Kinds annotations(trace, with_calls, recorded), operators(trace, with_calls, recorded);
  for (size_t track = 0; track < trace.words.tracks().size(); ++track) {
    const RowList calls = index.host_calls().Of(track);
    annotations.Add(trace.annotations, index.annotations().Of(track), calls);
    operators.Add(trace.host_ops, index.host_ops().Of(track), calls);
  }
  const auto decide = [&](uint64_t Kind::*side, TimeNs at, std::optional<TimeNs>& when,
                          std::optional<TimeNs>& suspect, uint64_t& witnesses) {
    if (annotations.Of(side, kFewestWithSuspect).kinds +
            operators.Of(side, kFewestWithSuspect).kinds >=
        kFewestNamesSuspect)
      suspect = at;
    const Kinds::Witnesses ranges = annotations.Of(side), ops = operators.Of(side);
    const bool by_ranges = ranges.ranges >= kFewestOutside;
    const bool by_ops = ops.ranges >= kFewestOperators && ops.kinds >= kFewestOperatorNames &&
                        3 * ops.kinds >= 2 * ops.of;
    if (!by_ranges && !by_ops) return;
    when = suspect = at;
    witnesses = by_ranges ? ranges.ranges : ops.ranges;
    stops.witness = by_ranges ? ranges.name : ops.name;
  };
  decide(&Kind::before, recorded.start, stops.began, stops.may_have_begun, stops.before);
  decide(&Kind::after, recorded.end, stops.stopped, stops.may_have_stopped, stops.after);
  return stops;
}

}  // namespace tacho
