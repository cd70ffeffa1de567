#pragma once

#include <string>
#include <vector>

namespace tacho {

// As much of each path as distinguishes it from the others. The folders, or the file name, that all
// paths share are left out, and so are the extensions of trace files.
std::vector<std::string> ShortPaths(const std::vector<std::string>& paths);

}  // namespace tacho
