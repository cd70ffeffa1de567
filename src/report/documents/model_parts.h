#pragma once

#include <string>

#include "analysis/analyze.h"
#include "text/document.h"

namespace tacho {

// Adds the blocks of the model for the phase with the most device time, and the roofline; nothing
// if neither is known. `rank`: whose they are, if the document is about a run; else "".
void AddModel(Document& document, const TraceAnalysis& trace, const std::string& rank = {});

// Adds the model, the peaks, and what is missing, below a table of the roofline; nothing if it has
// no row.
void AddRooflineRemark(Document& document, const Roofline& roofline);

}  // namespace tacho
