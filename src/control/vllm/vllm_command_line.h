#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "control/launch/command_options.h"

namespace tacho {

// What a vLLM command line gives as --profiler-config, as vLLM 0.32's parser reads it: the last
// JSON value counts, but if there is a dotted option ("--profiler-config.max_iterations 5"), only
// dotted options count.
struct ProfilerArgument {
  std::vector<std::string> json;      // the value of each --profiler-config, in order
  std::vector<CommandOption> dotted;  // the dotted options; `name` is only the key
  bool lacks_value = false;           // an option has no value: vLLM does not start
  bool empty() const { return json.empty() && dotted.empty() && !lacks_value; }
};
ProfilerArgument ProfilerArgumentOf(const std::vector<std::string>& words);

// The profiler configuration with which a vLLM server was launched, as the JSON of
// --profiler-config. Taken from the words of its command line and from its environment
// ("NAME=value", the variables of older versions). "" if it has none.
std::string ProfilerConfigOf(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment);

// Adds these keys and values to the --profiler-config in `words`: as one JSON value at the end, or
// as dotted options if the words use those. What the user's words say wins. A value in `added` is
// JSON (true, 5) or a text. Returns the words unchanged if there is nothing to add or their
// configuration is not JSON. Adds no key of torch's profiler if the words choose another profiler.
std::vector<std::string> WithProfilerConfig(
    const std::vector<std::string>& words,
    const std::vector<std::pair<std::string, std::string>>& added);

// ProfilerConfigOf for a process on this host, with its trace folder as an absolute path; "" if the
// process may not be read.
std::string ProfilerConfigOfProcess(int64_t pid);

}  // namespace tacho
