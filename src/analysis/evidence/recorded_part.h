#pragma once

#include "analysis/evidence/integrity.h"

namespace tacho {

// The part of a trace, which lasts for `span`, in which the work of its devices was recorded:
// beyond it they are neither idle nor busy. `work`: from the first to the last of that; empty:
// none.
Interval RecordedPart(const Integrity& integrity, Interval span, Interval work);

}  // namespace tacho
