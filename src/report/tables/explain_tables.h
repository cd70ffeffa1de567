#pragma once

#include <string>
#include <vector>

#include "analysis/requests/request_analysis.h"
#include "analysis/requests/requests_in_step.h"
#include "analysis/requests/step_cells.h"
#include "analysis/steps/steps.h"
#include "text/table.h"

namespace tacho {

// The tables that show one request or step in full. Steps have the same numbers as in StepsTable;
// the columns "at" count from `origin`.

// How a request's time splits into parts: until its first token, and until its last one.
Table RequestPartsTable(const RequestRow& row);
// The steps that read a request's prompt, and how many requests and tokens were in each.
Table ReadsTable(const RequestDetail& detail, const StepTable& steps, TimeNs origin);
// The times between two chunks of the answer, longest first. Each row has the step that made the
// later chunk, and how many requests and tokens were in that step. Prompts that were read since the
// earlier chunk are counted too.
Table TokenGapsTable(const RequestDetail& detail, const StepTable& steps, TimeNs origin);
// What the device did before the step's work began, and during that work.
Table CellsTable(const StepCells& cells, size_t step);
Table RequestsInStepTable(const RequestAnalysis& requests, const std::vector<RequestInStep>& in_it);

}  // namespace tacho
