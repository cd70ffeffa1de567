#pragma once

#include <string_view>

namespace tacho {

// Whether the file name or a folder in `path` shows that the file records the start of an engine,
// when it captures its CUDA graphs. ":" before a member of an archive counts as "/". Such a file is
// no trace of serving: the analysis of a folder leaves it out, and `tacho record` does not wait for
// it. Sources: vLLM 0.33, SGLang 0.5.23 and older SGLang layouts.
bool IsCaptureFile(std::string_view path);

}  // namespace tacho
