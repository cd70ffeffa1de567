#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// Whether `path` is a file that this user may run.
bool IsProgram(const std::string& path);

// The programs called `name` in the absolute folders of $PATH, in their order.
std::vector<std::string> ProgramsInPath(std::string_view name);

}  // namespace tacho
