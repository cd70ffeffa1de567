#include "control/engine_folder.h"

#include <fmt/format.h>

#include <filesystem>

#include "control/live/port_owner.h"

namespace tacho {

namespace fs = std::filesystem;

bool IsStore(std::string_view folder) { return folder.find("://") != std::string_view::npos; }

std::string EngineFolder(std::string named, const std::string& working, std::string_view home) {
  if (named.empty() || IsStore(named)) return named;
  if (!home.empty() && (named == "~" || named.starts_with("~/"))) named.replace(0, 1, home);
  const fs::path folder = (fs::path(working) / named).lexically_normal();
  return (folder.has_filename() || folder == folder.root_path() ? folder : folder.parent_path())
      .string();
}

std::string FolderOfProcess(int64_t pid, const std::string& named) {
  std::error_code failed;
  const fs::path working = fs::read_symlink(fmt::format("/proc/{}/cwd", pid), failed);
  if (failed) return named;
  return EngineFolder(named, working.string(), EnvironmentOf(pid, "HOME").value_or(""));
}

}  // namespace tacho
