#pragma once

#include "analysis/evidence/integrity.h"

namespace tacho {

// The part of a trace's `span` in which the work of its devices was recorded; outside of it they
// are neither idle nor busy. `work`: from the first to the last of that work; empty: none.
Interval RecordedPart(const Integrity& integrity, Interval span, Interval work);

}  // namespace tacho
