#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// The folder that a vLLM server traces into, from the words of its command line and its
// environment ("NAME=value"): --profiler-config as JSON or dotted, or the variable of older
// versions. Relative ones as they stand. "" when none is told.
std::string TraceFolderOf(const std::vector<std::string>& words,
                          const std::vector<std::string>& environment);

// The same of a process of this host, as an absolute path; "" when it may not be read.
std::string TraceFolderOfProcess(int64_t pid);

}  // namespace tacho
