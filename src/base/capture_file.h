#pragma once

#include <string_view>

namespace tacho {

// Whether a path has the name of a recording of how an engine captured its CUDA graphs when it
// started, or lies in a folder of them; ":" before a member of an archive is as "/". Such a file is
// no trace of serving: a folder's analysis leaves it out, `tacho record` does not wait for it.
// Sources: vLLM 0.33 and SGLang 0.5.23, and older layouts of SGLang's.
bool IsCaptureFile(std::string_view path);

}  // namespace tacho
