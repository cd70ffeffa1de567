#pragma once

#include <string>
#include <vector>

#include "analysis/requests/request_analysis.h"
#include "analysis/requests/requests_in_step.h"
#include "analysis/requests/step_cells.h"
#include "analysis/steps/steps.h"
#include "text/table.h"

namespace tacho {

// The tables of one request or step in full. Steps are numbered as in StepsTable; `origin` is the
// time that "at" counts from.

// The parts of a request's time until the first token and until the last one.
Table RequestPartsTable(const RequestRow& row);
// The steps that read a request's prompt, with all that was in them.
Table ReadsTable(const RequestDetail& detail, const StepTable& steps, TimeNs origin);
// The times between two chunks, longest first, with the step that made the token and what was in
// it.
Table TokenGapsTable(const RequestDetail& detail, const StepTable& steps, TimeNs origin);
// What the device did before a step's work and in it.
Table CellsTable(const StepCells& cells, size_t step);
Table RequestsInStepTable(const RequestAnalysis& requests, const std::vector<RequestInStep>& in_it);

}  // namespace tacho
