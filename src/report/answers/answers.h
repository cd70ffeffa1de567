#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"
#include "text/document.h"

namespace tacho {

// A place that shows what an answer says.
struct Evidence {
  size_t trace = 0;  // index into RunAnalysis::traces
  Interval when;     // on the clock of that trace
  bool operator==(const Evidence&) const = default;
};

// One of the questions that people open a profile with, and its answer. Either `sentence` is set,
// or `cannot_tell` says why it is not. docs/metrics.md defines each figure.
struct Answer {
  std::string id;           // stable: "trust", "idle", ...
  std::string question;     // "Is the device idle, and why?"
  std::string sentence;     // without a full stop
  std::string figure;       // with its unit: "86.3 %"; "" if the answer has no figure
  std::string of;           // what the figure is of: "84.5 ms of GPU time"; "" without a figure
  std::string cannot_tell;  // why there is no sentence
  std::optional<double> share = {};  // the figure as a part of its whole, 0..1
  std::optional<Evidence> at = {};
};

// The fifteen answers, always in this order: trust, idle, bound, steps, kernels, graphs,
// communication, ranks, change, first, origin, limit, waits, load, drift. Every figure comes from
// `run` alone, except that of `change`: it comes from `changes` against another run, if given.
// Names are visible text, cut to 40 columns. Cost: O(steps + graph launches), plus the selections
// for the percentiles.
std::vector<Answer> Answers(const RunAnalysis& run, const RunChanges* changes = nullptr);
// The answers as a list.
Document AnswersDocument(const RunAnalysis& run, const RunChanges* changes = nullptr);

}  // namespace tacho
