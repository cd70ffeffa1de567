#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "control/launch/command_options.h"

namespace tacho {

// How a vLLM command line gives --profiler-config, as vLLM 0.32's parser reads it: the last JSON
// counts. But if there is a dotted option ("--profiler-config.max_iterations 5"), only dotted
// options count.
struct ProfilerArgument {
  std::vector<std::string> json;      // the value of each --profiler-config, in their order
  std::vector<CommandOption> dotted;  // each with its key as `name`
  bool lacks_value = false;           // an option without one: vLLM does not start
  bool empty() const { return json.empty() && dotted.empty() && !lacks_value; }
};
ProfilerArgument ProfilerArgumentOf(const std::vector<std::string>& words);

// The profiler configuration with which a vLLM server was launched, as the JSON of
// --profiler-config: from the words of its command line and its environment ("NAME=value", the
// variables of older versions). "" if it has no such configuration.
std::string ProfilerConfigOf(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment);

// Adds these keys and values to the --profiler-config of `words`, which becomes one word of JSON at
// the end. What the user's own words say wins. A value is JSON (true, 5) or a text. Returns the
// words unchanged if there is nothing to add, or if their configuration is no JSON. Adds no key of
// torch's profiler if the words choose another profiler.
std::vector<std::string> WithProfilerConfig(
    const std::vector<std::string>& words,
    const std::vector<std::pair<std::string, std::string>>& added);

// The configuration of a process on this host, with its folder as an absolute path; "" if it may
// not be read.
std::string ProfilerConfigOfProcess(int64_t pid);

}  // namespace tacho
