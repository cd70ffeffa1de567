#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tacho {

// Lists the files below folders, each file and each folder once, whatever links lead to it. One
// walk serves all folders of a call, so that a folder inside another one is not read twice.
class FolderWalk {
 public:
  struct File {
    std::string path;
    uint64_t size = 0;
  };

  // A file that is given by itself: it is not listed again. False, with a reason among skipped(),
  // when it was given before under another path.
  bool MarkSeen(const std::string& path, const struct stat& status);
  // Fails if the folder itself cannot be read; a folder below it that cannot be read is put into
  // failures(), for nobody knows what is in it.
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

  std::map<Identity, std::string> seen_;  // with the path that it was first seen by
  std::vector<std::string> skipped_;
  std::vector<Error> failures_;
};

}  // namespace tacho
