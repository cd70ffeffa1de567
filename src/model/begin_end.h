#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/args.h"
#include "model/event.h"
#include "model/notes.h"

namespace tacho {

// Joins begin and end events of each track to slices: an end event closes the last begin event that
// is still open. Memory grows with the number of open begin events.
class BeginEndPairs {
 public:
  struct Slice {
    Event event;
    ArgsRef args;
  };

  // A begin event without a usable time stays open too, so that its end does not close another one.
  void Begin(const Event& event, ArgsRef args = {});
  // The slice that `event` ends; nullopt if no begin event is open or a time is not usable. Adds a
  // note for an end without a begin. Also adds a note for an end whose time is before its begin;
  // the slice then has duration 0.
  std::optional<Slice> End(const Event& event, Notes& notes);
  // Adds a note for begin events that are still open.
  void Finish(Notes& notes) const;

 private:
  std::unordered_map<uint32_t, std::vector<Slice>> open_;  // keyed by track
};

// Joins begin and end events of ranges that need not nest. An end event closes the last open begin
// event of its process with the same category, id and name; without a name, it closes the last one
// of any name. Memory grows with the number of open ranges. Cost of a call: O(log n) for n open
// ranges.
class RangePairs {
 public:
  struct Ended {
    uint32_t row;
    DurationNs duration;
  };

  // `row` is any number for the range; End returns it.
  void Begin(const Event& event, ProcessId process, uint32_t row = 0);
  // The range that `event` ends; nullopt if no open begin event matches or a time is not usable.
  // Adds notes for the same defects as BeginEndPairs::End.
  std::optional<Ended> End(const Event& event, ProcessId process, Notes& notes);
  // Adds a note for ranges that are still open.
  void Finish(Notes& notes) const;

 private:
  struct Open {
    StringId name;
    std::optional<TimeNs> start;
    uint32_t row;
  };
  using Key = std::tuple<ProcessId, int, int64_t>;  // process, category (-1: none), id
  // Removes the begin event that `event` ends from the open ones and returns it.
  std::optional<Open> TakeBegin(const Event& event, ProcessId process);
  static Key KeyOf(const Event& event, ProcessId process) {
    return {process, event.has_category ? Index(event.category) : -1, event.id};
  }
  // The open ranges of one key. `open`: by number, in the order of their begins. `by_name`: the
  // numbers for each name.
  struct OfKey {
    std::map<uint64_t, Open> open;
    std::map<StringId, std::vector<uint64_t>> by_name;
    uint64_t begun = 0;
  };
  std::map<Key, OfKey> open_;
};

}  // namespace tacho
