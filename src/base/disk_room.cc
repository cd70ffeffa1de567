#include "base/disk_room.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

namespace tacho {

namespace fs = std::filesystem;

std::optional<uint64_t> FreeBytes(const std::string& folder) {
  struct statvfs room {};
  const std::string above = fs::path(folder).parent_path().string();
  if (folder.empty() || (statvfs(folder.c_str(), &room) != 0 && statvfs(above.c_str(), &room) != 0))
    return std::nullopt;
  if ((room.f_flag & ST_RDONLY) != 0) return 0;
  return uint64_t{room.f_bavail} * room.f_frsize;
}

std::string NearestThere(const std::string& folder) {
  std::error_code failed;
  fs::path there = fs::absolute(folder, failed);
  while (there.has_relative_path() && !fs::exists(there, failed)) there = there.parent_path();
  return there.string();
}

std::string ObstacleToWriting(const std::string& folder) {
  std::error_code failed;
  const std::string there = NearestThere(folder);
  const char* why = nullptr;
  if (!fs::is_directory(there, failed)) {
    why = "is not a folder";
  } else if (access(there.c_str(), W_OK | X_OK) != 0) {
    why = "is not yours to write into";
  } else if (const auto space = fs::space(there, failed); !failed && space.capacity == 0) {
    why = "is not a disk";  // for example /proc
  }
  return why == nullptr ? ""
                        : fmt::format("nothing can be written there: {} {}",
                                      there == folder ? "it" : there, why);
}

}  // namespace tacho
