#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"
#include "text/document.h"

namespace tacho {

// A time in a trace at which the user can see what an answer says.
struct Evidence {
  size_t trace = 0;  // index into RunAnalysis::traces
  Interval when;     // on the clock of that trace
  bool operator==(const Evidence&) const = default;
};

// A question that a profile should answer, and its answer. Either `sentence` is set, or
// `cannot_tell` says why there is no answer. docs/metrics.md defines each figure.
struct Answer {
  std::string id;        // stable: "trust", "idle", ...
  std::string question;  // "Is the device idle, and why?"
  std::string sentence;  // without a full stop
  std::string figure;    // with its unit: "86.3 %"; "" if the answer has no figure
  std::string of;        // what the figure is a part of: "84.5 ms of GPU time"; "" without a figure
  std::string cannot_tell;           // why there is no sentence
  std::optional<double> share = {};  // the figure as a part of its whole, 0..1
  std::optional<Evidence> at = {};
};

// The fifteen answers, always in this order: trust, idle, bound, steps, kernels, graphs,
// communication, ranks, change, first, origin, limit, waits, load, drift. Only the answer "change"
// needs `changes`, the comparison with another run; nullptr: there is none. Names are visible text,
// cut to 40 columns. Cost: O(steps + graph launches), and a selection for each percentile.
std::vector<Answer> Answers(const RunAnalysis& run, const RunChanges* changes = nullptr);
// The answers as a list.
Document AnswersDocument(const RunAnalysis& run, const RunChanges* changes = nullptr);

}  // namespace tacho
