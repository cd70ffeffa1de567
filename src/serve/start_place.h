#pragma once

#include <optional>
#include <string>

#include "view/place.h"

namespace tacho {

// Where the command line wants the page to begin.
struct ServedStart {
  enum class Kind : uint8_t { kNowhere, kGap, kStep, kTime, kName } kind = Kind::kNowhere;
  size_t number = 0;  // from 1: among the longest gaps, or the steps of the first rank that has it
  DurationNs time = {};   // from 0 of the run's clock
  std::string name = {};  // a part of a name
};

// The place of a ServedStart in a run.
struct StartPlace {
  std::optional<Interval> when = {};  // absent: nothing was found
  std::optional<SlicePlace> at = {};  // absent: a time rather than a slice
  // "gap 99: there are 30 gaps; the page begins at the last"; "": it was found.
  std::string lacks = {};
};
// kTime is known at once, the others once all `ranks` are read. Cost: for kName, a search.
StartPlace FindStart(const ServedStart& start, const ReadRanks& ranks);

}  // namespace tacho
