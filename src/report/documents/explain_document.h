#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/analyze.h"
#include "base/result.h"
#include "report/documents/report_parts.h"
#include "text/document.h"

namespace tacho {

// One thing of a run to show in full.
struct ExplainTarget {
  enum class Kind : uint8_t { kRequest, kStep, kGap, kFinding };
  Kind kind = Kind::kRequest;
  // Of a request: its id, or "slowest" or "median" for these two among the requests. Of a finding:
  // its id, or its place in the list.
  std::string id;
  size_t number = 0;    // of a step or a gap, as on the screens, from 1 on
  std::string of = {};  // whose step or gap: a worker, "rank3", a rank's name; "": the first trace
};
// "step:17", "gap:3", "w1/step:17", "finding:copies"; anything else is the id of a request, or of a
// finding if no request has it.
ExplainTarget ParseExplainTarget(std::string_view text);

// One request, step, gap or finding in full, on about one screen: times, parts, the steps it was
// in, what else was in them, and the commands that show them. `run`: whole traces, with `requests`
// and `joined` if it has requests. kUsage: there is no such thing; says how to list what there is.
Result<Document> ExplainDocument(const RunAnalysis& run, const ExplainTarget& target,
                                 const ScreenOptions& options);

}  // namespace tacho
