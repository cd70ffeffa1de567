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
  // For a request: its id, or "slowest" or "median". For a finding: its id, or its number in the
  // list.
  std::string id;
  size_t number = 0;  // for a step or a gap: its number, from 1, as on the screens
  // For a step or a gap: a worker, "rank3" or a rank's name; "": the first trace.
  std::string of = {};
};
// Reads "step:17", "gap:3", "w1/step:17" or "finding:copies". Any other text is the id of a
// request, or of a finding if no request has that id.
ExplainTarget ParseExplainTarget(std::string_view text);

// Shows one request, step, gap or finding in full, on about one screen. For a request: its times
// and parts, the steps it was in, what else was in those steps, and the commands that show them.
// `run` must hold whole traces, and `requests` and `joined` if there are requests. kUsage: nothing
// fits `target`; the message says how to list what there is.
Result<Document> ExplainDocument(const RunAnalysis& run, const ExplainTarget& target,
                                 const ScreenOptions& options);

}  // namespace tacho
