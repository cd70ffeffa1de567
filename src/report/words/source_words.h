#pragma once

#include <string>

#include "analysis/sources/source_table.h"
#include "text/document.h"

namespace tacho {

// The frames of a row: "vllm/_custom_ops.py(334): rms_norm"; several are separated by " | ", and
// "2 more" stands for those that are not listed. "" without any.
std::string FramesText(const SourceRow& row);
// The first of them in short: "_custom_ops.py:334 rms_norm or 2 more".
std::string ShortFramesText(const SourceRow& row);
// The modules of each of these frames, separated in the same way, and by commas.
std::string ModulesText(const SourceRow& row);
// The modules of the first frame: "RMSNorm", "RMSNorm or 1 more".
std::string ShortModulesText(const SourceRow& row);
// Why no kernel has a source: "no sources: ..."; "" if sources were found.
std::string WhyNoSources(const SourceTable& sources);
// How much of the time has one site, and where the frames come from.
void AddSourcesRemark(Document& document, const SourceTable& sources);

}  // namespace tacho
