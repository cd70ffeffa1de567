#pragma once

#include <string>
#include <vector>

#include "analysis/compare/run_changes.h"
#include "cli/report/report_command.h"
#include "cli/screen/read_runs.h"
#include "report/words/redact.h"
#include "text/document.h"

namespace tacho {

// What changed against the runs of --against, for a report of `run`. `redactor` redacts the runs of
// --against (`run` is redacted already); nullptr: the report is not redacted.
Result<RunChanges> ChangesAgainst(const ReportOptions& options, const RunAnalysis& run,
                                  const Classifier& classifier, const Redactor* redactor,
                                  Incomplete& incomplete);

// The name of the runs of --against, for a title; "the base" in a redacted report.
std::string NameOfAgainst(const ReportOptions& options);

// The changes as a part of a document in Markdown, with at most `rows` rows in each table.
Document AgainstDocument(const RunChanges& changes, const std::string& against, size_t rows);

}  // namespace tacho
