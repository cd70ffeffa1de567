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

// Joins the begins and ends of each track to slices: an end closes the last begin that is still
// open. Memory grows with the number of open begins.
class BeginEndPairs {
 public:
  struct Slice {
    Event event;
    ArgsRef args;
  };

  // A begin without a usable time stays open too: its end must not close another begin.
  void Begin(const Event& event, ArgsRef args = {});
  // The slice that `event` ends; nullopt if no begin is open or its times are not usable. Notes an
  // end without a begin, and an end before its begin. An end before its begin gives a slice with a
  // duration of 0.
  std::optional<Slice> End(const Event& event, Notes& notes);
  // Notes the begins that are still open.
  void Finish(Notes& notes) const;

 private:
  std::unordered_map<uint32_t, std::vector<Slice>> open_;  // by track
};

// Joins the begins and ends of ranges that need not nest: an end closes the last open begin of its
// process with the same category, id and name; an end without a name closes a begin of any name.
// Memory grows with the number of open ranges. Cost: O(log n) each for n open ranges.
class RangePairs {
 public:
  struct Ended {
    uint32_t row;
    DurationNs duration;
  };

  // `row` identifies the begin in the result of End.
  void Begin(const Event& event, ProcessId process, uint32_t row = 0);
  // The range that `event` ends; nullopt if there is no such begin or the times are not usable.
  // Notes the same defects as BeginEndPairs::End.
  std::optional<Ended> End(const Event& event, ProcessId process, Notes& notes);
  // Notes the ranges that are still open.
  void Finish(Notes& notes) const;

 private:
  struct Open {
    StringId name;
    std::optional<TimeNs> start;
    uint32_t row;
  };
  using Key = std::tuple<ProcessId, int, int64_t>;  // process, category (-1: none), id
  // Removes the begin that `event` ends from the open ones and returns it.
  std::optional<Open> TakeBegin(const Event& event, ProcessId process);
  static Key KeyOf(const Event& event, ProcessId process) {
    return {process, event.has_category ? Index(event.category) : -1, event.id};
  }
  // The open ranges of one key in the order of their begins, and the places in `open` by name.
  struct OfKey {
    std::map<uint64_t, Open> open;
    std::map<StringId, std::vector<uint64_t>> by_name;
    uint64_t begun = 0;
  };
  std::map<Key, OfKey> open_;
};

}  // namespace tacho
