#pragma once

#include <string>
#include <vector>

namespace tacho {

// Enough of each path to distinguish it from the others: without the folders, or the file, that all
// have in common and without the endings that traces have.
std::vector<std::string> ShortPaths(const std::vector<std::string>& paths);

}  // namespace tacho
