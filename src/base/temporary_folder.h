#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "base/system_error.h"

namespace tacho {

// A folder in $TMPDIR or /tmp that only this user may use. The destructor removes it.
class TemporaryFolder {
 public:
  // kOutput: the folder cannot be created.
  static Result<TemporaryFolder> Make() {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string path = (parent / "tacho-XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr) {
      return Fail(ErrorKind::kOutput, "no temporary folder can be made in " +
                                          (error ? "$TMPDIR" : parent.string()) + ": " +
                                          (error ? error.message() : SystemErrorText(errno)));
    }
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string At(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace tacho
