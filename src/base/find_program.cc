#include "base/find_program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace tacho {

bool IsProgram(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> ProgramsIn(std::string_view folders, std::string_view name) {
  std::vector<std::string> paths;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    std::string path = std::string(folder) + "/" + std::string(name);
    if (folder.starts_with('/') && IsProgram(path)) paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<std::string> ProgramsInPath(std::string_view name) {
  const char* const variable = std::getenv("PATH");
  return ProgramsIn(variable == nullptr ? "" : variable, name);
}

}  // namespace tacho
