#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tacho {

// Free bytes on the disk of `folder`, or of its parent, 0 if it is read-only; absent if not known.
std::optional<uint64_t> FreeBytes(const std::string& folder);

// The folder itself, or the nearest above it that is there, as an absolute path.
std::string NearestThere(const std::string& folder);
// "nothing can be written there: /proc is no disk": why this user can neither write to the folder
// nor make it; "" if nothing is known against it.
std::string ObstacleToWriting(const std::string& folder);

}  // namespace tacho
