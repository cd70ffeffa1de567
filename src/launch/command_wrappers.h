#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// Examines what stands before the engine's program in a command: settings
// ("CUDA_VISIBLE_DEVICES=0") and wrappers, which are programs that start another one ("numactl -N
// 0").

// Removes the settings at the beginning of `words`, including those after "env", and returns them.
// Removes nothing if an "env" sets $PATH.
std::vector<std::string> TakeSettings(std::vector<std::string>& words);

// The index of the engine's program: the word vllm or sglang before "serve". If a Python runs that
// program or a module (-m), the index of the Python. words.size() if there is no such word.
size_t EngineWord(const std::vector<std::string>& words);

// Whether a word before the engine's program changes the environment, so that the command may start
// another program than the one that tacho finds under this name.
bool HasOtherEnvironment(const std::vector<std::string>& words);

// Whether a word before the engine's program starts it in a container or on another host.
bool RunsElsewhere(const std::vector<std::string>& words);

// Whether the word is a program that runs other programs in containers.
bool IsContainer(std::string_view word);

// Refuses a command with kUsage in three cases: the options and variables that tacho adds would not
// reach the engine, because it runs in a container or its command is quoted; the engine would not
// end with tacho; the command starts no server ("vllm bench").
Result<void> CheckWrappers(const std::vector<std::string>& words);

}  // namespace tacho
