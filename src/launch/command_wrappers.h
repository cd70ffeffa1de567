#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// What stands before the engine's program in a whole command: settings ("CUDA_VISIBLE_DEVICES=0"),
// and programs that start another one ("numactl -N 0").

// Takes the settings that `words` begin with, also those after "env"; none after one
// that sets $PATH.
std::vector<std::string> TakeSettings(std::vector<std::string>& words);

// The vllm or sglang before "serve", or the Python that runs it or a module; words.size() without.
size_t EngineWord(const std::vector<std::string>& words);

// Whether a word before the engine's makes another environment, so that its program is not the one
// that is found here.
bool HasOtherEnvironment(const std::vector<std::string>& words);

// Whether a word before the engine's starts it in a container or on another host.
bool RunsElsewhere(const std::vector<std::string>& words);

// kUsage: options and variables that are added would not reach the engine, as in a container or in
// words in quotes; it would not end with tacho; or the command starts no server ("vllm bench").
Result<void> CheckWrappers(const std::vector<std::string>& words);

}  // namespace tacho
