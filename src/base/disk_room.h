#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tacho {

// Free bytes on the disk of `folder` or, if that folder does not exist, on the disk of its parent.
// 0 if the disk is read-only; absent if not known.
std::optional<uint64_t> FreeBytes(const std::string& folder);

// `folder` as an absolute path or, if it does not exist, the nearest folder above it that exists.
std::string NearestThere(const std::string& folder);
// Why this user can neither write to the folder nor create it, as a text for a message ("nothing
// can be written there: /proc is not a disk"). "" if no obstacle is known.
std::string ObstacleToWriting(const std::string& folder);

}  // namespace tacho
