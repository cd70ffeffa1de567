#pragma once

#include <string>
#include <vector>

namespace tacho {

// Enough of each path to distinguish it from the others: without the folders or the file name that
// all share, and without the endings of trace files.
std::vector<std::string> ShortPaths(const std::vector<std::string>& paths);

}  // namespace tacho
