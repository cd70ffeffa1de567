#pragma once

#include <string>
#include <vector>

#include "mutations/mutation.h"

namespace tacho {

// Of a mutated trace.
struct CheckedFigures {
  std::vector<std::string> wrong;  // by more than it says, each as a sentence
  bool tells_idle_time = false, tells_causes = false;
};
// Right is what the base has in the same window.
CheckedFigures CheckFigures(const Base& base, const Mutation& mutation, const Trace& mutated);

}  // namespace tacho
