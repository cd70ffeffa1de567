#pragma once

#include <sys/stat.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tacho {

// Remembers how files were when it was made, to notice later that they changed.
class WatchedFiles {
 public:
  explicit WatchedFiles(const std::set<std::string>& paths);

  // The files that have changed since this object was made, each reported once: (path, "was
  // removed" or "has changed").
  std::vector<std::pair<std::string, std::string>> Changes();

 private:
  std::map<std::string, struct stat> files_;
};

}  // namespace tacho
