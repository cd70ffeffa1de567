#pragma once

#include <string>

#include "analysis/analyze.h"
#include "text/document.h"

namespace tacho {

// Adds the blocks of the model for the phase with the most device time, and the roofline. Adds
// nothing if neither is known. `rank`: the rank that the figures are of, if the document is about a
// run; else "".
void AddModel(Document& document, const TraceAnalysis& trace, const std::string& rank = {});

// Adds a remark below a table of the roofline: the model, the peaks, and what is missing. Adds
// nothing if the roofline has no row.
void AddRooflineRemark(Document& document, const Roofline& roofline);
// Adds a remark below the table of matrix products: how much of the time it has, or why it is
// empty; and why there is no table of the roofline above it.
void AddGemmsRemark(Document& document, const TraceAnalysis& trace);

}  // namespace tacho
