#pragma once

#include <cstddef>
#include <span>
#include <string_view>

// The JSON that a fuzz target reads, for the mutator of json_mutator.cc.
struct FuzzedJson {
  size_t choice_bytes = 0;                  // before the JSON: they choose what is compared
  std::span<const std::string_view> words;  // tokens and members that are put into it
  std::string_view seed;                    // stands for an empty input
  bool strict = false;  // one value of another type ends the reading: most mutations keep types
  size_t small = 0;     // bytes; most inputs are kept below, because small ones are run faster
};

// Each target that has the mutator defines it.
const FuzzedJson& JsonOfTarget();
