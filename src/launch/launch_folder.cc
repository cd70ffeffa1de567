#include "launch/launch_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/clock_pair.h"
#include "base/fresh_folder.h"

namespace tacho {

namespace fs = std::filesystem;

std::string LaunchFolderFor(const std::string& out, const std::string& name) {
  return fs::absolute(
             fmt::format("{}/tacho-launch-{}-{}", out, name, DateStamp(ReadClocks().unix_ns)))
      .lexically_normal()
      .string();
}

Result<std::string> MakeLaunchFolder(const std::string& path) {
  const fs::path wanted = path;
  return MakeFreshFolder(wanted.parent_path(), wanted.filename());
}

void RemoveEmptyParts(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> parts{folder};
  for (auto part = fs::recursive_directory_iterator(folder, error);
       !error && part != fs::recursive_directory_iterator(); part.increment(error))
    parts.push_back(part->path());
  // Goes backwards, because a folder's contents come after the folder.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if (fs::is_empty(*part, error)) fs::remove(*part, error);
}

}  // namespace tacho
