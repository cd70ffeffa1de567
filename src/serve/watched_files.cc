#include "serve/watched_files.h"

namespace tacho {
namespace {

bool IsSame(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

WatchedFiles::WatchedFiles(const std::set<std::string>& paths) {
  for (const std::string& path : paths) {
    struct stat now {};
    if (stat(path.c_str(), &now) == 0 && S_ISREG(now.st_mode)) files_[path] = now;
  }
}

std::vector<std::pair<std::string, std::string>> WatchedFiles::Changes() {
  std::vector<std::pair<std::string, std::string>> changes;
  std::erase_if(files_, [&](const auto& file) {
    struct stat now {};
    const bool gone = stat(file.first.c_str(), &now) != 0;
    if (!gone && IsSame(now, file.second)) return false;
    changes.emplace_back(file.first, gone ? "was removed" : "has changed");
    return true;
  });
  return changes;
}

}  // namespace tacho
