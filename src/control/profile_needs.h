#pragma once

#include <string>

#include "control/engine.h"

namespace tacho {

// Why an engine cannot be profiled and what to do, in the same words for every command. Each
// follows "URL: ".

// Its profiler is not configured: how to switch it on, and whether Kineto's daemon works without
// it.
std::string NotConfiguredText(const EngineFacts& facts);
// Neither the engine nor its process reports the folder of its traces: what `tacho record` needs.
std::string NoFolderText(const EngineFacts& facts);
// The same once it has written there: how to find the folder.
std::string UnknownFolderText(const EngineFacts& facts);

}  // namespace tacho
