#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// What a vLLM server was told of its profiler at its launch, as the JSON of --profiler-config: from
// the words of its command line (JSON or dotted, the last one wins) and its environment
// ("NAME=value", the variables of older versions). "" when it was told nothing.
std::string ProfilerConfigOf(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment);

// The same of a process of this host, its folder as an absolute path; "" when it may not be read.
std::string ProfilerConfigOfProcess(int64_t pid);

}  // namespace tacho
