#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// What stands before the engine's program in a whole command: settings ("CUDA_VISIBLE_DEVICES=0"),
// and programs that start another one ("numactl -N 0").

// Removes the settings at the beginning of `words`, also those after "env", and returns them. Takes
// none if an "env" sets $PATH.
std::vector<std::string> TakeSettings(std::vector<std::string>& words);

// The index of the vllm or sglang before "serve", or of the Python that runs it or a module;
// words.size() if there is no such word.
size_t EngineWord(const std::vector<std::string>& words);

// Whether a word before the engine's program changes the environment, so that the program is not
// the one that is found here.
bool HasOtherEnvironment(const std::vector<std::string>& words);

// Whether a word before the engine's program starts it in a container or on another host.
bool RunsElsewhere(const std::vector<std::string>& words);

// Whether the word is a program that runs others in containers.
bool IsContainer(std::string_view word);

// kUsage: added options and variables would not reach the engine, because it runs in a container or
// its command is quoted; the engine would not end with tacho; or the command starts no server
// ("vllm bench").
Result<void> CheckWrappers(const std::vector<std::string>& words);

}  // namespace tacho
