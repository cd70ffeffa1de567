#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"
#include "text/document.h"

namespace tacho {

// The findings of a run, in the order of FindingsOf. `with_text`: with the sentence of each
// finding. Else the sentences are in files only, because a line of the screen has no room for them.
Table FindingsTable(const RunAnalysis& run, bool with_text, std::string title = "FINDINGS");
// The sentence of each finding, to stand below a table without sentences.
void AddFindingTexts(Document& document, const RunAnalysis& run);
// Where a finding's cost lies, by trace.
Table FindingPlacesTable(const RunAnalysis& run, const RunFinding& finding);
// The longest gaps of a cause of idle time, over all traces that the finding lies in.
Table FindingGapsTable(const RunAnalysis& run, const RunFinding& finding, size_t most);
// What a rank did longer than those that waited for it.
Table SkewCausesTable(const RankBlame::Row& row);

}  // namespace tacho
