#pragma once

#include <optional>
#include <string>

#include "view/place.h"

namespace tacho {

// The place at which the page should begin, as the command line gives it.
struct ServedStart {
  enum class Kind : uint8_t { kNowhere, kGap, kStep, kTime, kName } kind = Kind::kNowhere;
  // For kGap the index among the longest gaps, for kStep the index among the steps of the first
  // rank that has it. Counts from 1.
  size_t number = 0;
  DurationNs time = {};   // time since 0 of the run's clock
  std::string name = {};  // any part of a slice's name
};

// Where a ServedStart lies in a run.
struct StartPlace {
  std::optional<Interval> when = {};  // absent: the start was not found
  std::optional<SlicePlace> at = {};  // absent: the start is a time, not a slice
  // Why the place was not found, such as "gap 99: there are 30 gaps; the page begins at the last";
  // "" if it was found.
  std::string lacks = {};
};
// Finds the place. A kTime can be found at once, the other kinds once all `ranks` are read. Cost:
// for kName, a search through the names.
StartPlace FindStart(const ServedStart& start, const ReadRanks& ranks);

}  // namespace tacho
