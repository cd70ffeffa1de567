#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"
#include "text/document.h"

namespace tacho {

// The findings of a run, in the order of FindingsOf. `with_text` shows each finding's sentence on
// the screen too; otherwise only files have the sentences, because a line of the screen has no
// room.
Table FindingsTable(const RunAnalysis& run, bool with_text, std::string title = "FINDINGS");
// Adds the sentence of each finding, to be read below a table without sentences.
void AddFindingTexts(Document& document, const RunAnalysis& run);
// How much of a finding's cost lies in which trace.
Table FindingPlacesTable(const RunAnalysis& run, const RunFinding& finding);
// For a finding about a cause of idle time: the longest gaps with that cause, over all traces of
// the finding.
Table FindingGapsTable(const RunAnalysis& run, const RunFinding& finding, size_t most);
// What a rank did for longer than the ranks that waited for it.
Table SkewCausesTable(const RankBlame::Row& row);

}  // namespace tacho
