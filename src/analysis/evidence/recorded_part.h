#pragma once

#include "analysis/evidence/integrity.h"

namespace tacho {

// The part of a trace's `span` in which device work was recorded. Outside of it, the devices count
// as neither idle nor busy. `work`: the time from the first to the last device work; empty if there
// is none.
Interval RecordedPart(const Integrity& integrity, Interval span, Interval work);

}  // namespace tacho
