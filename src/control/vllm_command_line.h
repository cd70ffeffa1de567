#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// The profiler configuration with which a vLLM server was launched, as the JSON of
// --profiler-config: from the words of its command line (JSON or dotted, the last one wins) and its
// environment ("NAME=value", the variables of older versions). "" without one.
std::string ProfilerConfigOf(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment);

// The same for a process on this host, with its folder as an absolute path; "" if it may not be
// read.
std::string ProfilerConfigOfProcess(int64_t pid);

}  // namespace tacho
