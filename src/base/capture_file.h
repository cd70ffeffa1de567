#pragma once

#include <string_view>

namespace tacho {

// Whether the name of the file, or of a folder in `path`, shows that it is a recording of CUDA
// graph capture while an engine starts. A ":" before an archive's member counts as "/". Such a file
// is not a trace of serving: the analysis of a folder leaves it out, and `tacho record` does not
// wait for it. Sources: vLLM 0.33, SGLang 0.5.23 and older SGLang layouts.
bool IsCaptureFile(std::string_view path);

}  // namespace tacho
