#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// Whether `path` is a file that this user may run.
bool IsProgram(const std::string& path);

// The programs called `name` in the absolute ones of `folders` ("/usr/bin:/bin"), in their order.
std::vector<std::string> ProgramsIn(std::string_view folders, std::string_view name);

// The same in the folders of $PATH.
std::vector<std::string> ProgramsInPath(std::string_view name);

}  // namespace tacho
