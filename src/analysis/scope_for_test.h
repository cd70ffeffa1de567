#pragma once

#include "analysis/names/classifier.h"
#include "analysis/scope.h"

namespace tacho {

inline const Classifier& BuiltInRules() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

inline Scope WindowScope(int64_t start, int64_t end) {
  Scope scope;
  scope.window = Interval{TimeNs{start}, TimeNs{end}};
  return scope;
}

}  // namespace tacho
