#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tacho {

// Lists the files below folders: each file and each folder once, however many links lead to it. One
// object serves all folders of a call, so that a folder inside another one is not read twice.
class FolderWalk {
 public:
  struct File {
    std::string path;
    uint64_t size = 0;
  };

  // Marks a file that the user named, so that FilesBelow does not list it again. False, with a
  // reason in skipped(), if the file was marked before under another path.
  bool MarkSeen(const std::string& path, const struct stat& status);
  // Fails if `folder` itself cannot be read. An unreadable folder below it goes into failures(),
  // because it may hold traces.
  Result<std::vector<File>> FilesBelow(const std::string& folder);

  [[nodiscard]] const std::vector<std::string>& skipped() const { return skipped_; }
  [[nodiscard]] const std::vector<Error>& failures() const { return failures_; }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  struct Pending {
    std::vector<std::string> folders;
    std::vector<std::string> links;
  };

  Result<void> ReadFolder(const std::string& folder, Pending& pending, std::vector<File>& files);
  void Take(const std::string& path, const struct stat& status, Pending& pending,
            std::vector<File>& files);
  void Skip(const std::string& path, const std::string& why);

  std::map<Identity, std::string> seen_;  // identity -> path under which it was first seen
  std::vector<std::string> skipped_;
  std::vector<Error> failures_;
};

}  // namespace tacho
