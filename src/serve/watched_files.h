#pragma once

#include <sys/stat.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tacho {

// Files as they were at some moment, to notice what happens to them later.
class WatchedFiles {
 public:
  explicit WatchedFiles(const std::set<std::string>& paths);

  // The files that changed since, each reported once: (path, "was removed" or "has changed").
  std::vector<std::pair<std::string, std::string>> Changes();

 private:
  std::map<std::string, struct stat> files_;
};

}  // namespace tacho
