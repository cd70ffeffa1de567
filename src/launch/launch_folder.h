#pragma once

#include <string>

#include "base/result.h"

namespace tacho {

// The path of the folder for logs and traces of a launch that begins now:
// "OUT/tacho-launch-NAME-20261124-160239".
std::string LaunchFolderFor(const std::string& out, const std::string& name);
// Makes that folder, or one with a number added, because two launches may begin in the same second.
// kOutput: the folder cannot be made.
Result<std::string> MakeLaunchFolder(const std::string& path);
// Removes what a launch that did not start has left in `folder`: empty logs and empty folders.
void RemoveEmptyParts(const std::string& folder);

}  // namespace tacho
