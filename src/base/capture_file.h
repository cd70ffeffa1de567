#pragma once

#include <string_view>

namespace tacho {

// Whether a path, by its file name or by one of its folders, is a recording of an engine that
// captured its CUDA graphs at its start. ":" before a member of an archive counts as "/". Such a
// file is no trace of serving: the analysis of a folder leaves it out, and `tacho record` does not
// wait for it. Sources: vLLM 0.33, SGLang 0.5.23 and older SGLang layouts.
bool IsCaptureFile(std::string_view path);

}  // namespace tacho
