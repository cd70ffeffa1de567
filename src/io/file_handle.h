#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>

#include "base/result.h"

namespace tacho {

// An open file descriptor with one owner.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  FileHandle& operator=(FileHandle&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle();

  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

struct OpenedFile {
  FileHandle file;
  struct stat status = {};
};

// Opens a regular file, a FIFO or, for "-", a copy of standard input for reading. Devices are
// refused before they are opened, since opening one can have effects. Errors have `path` in front.
Result<OpenedFile> OpenForReading(const std::string& path);

// Why a path of this type is not read ("is a folder ..."); "" for a regular file and a FIFO.
std::string WhyNotReadable(mode_t mode);

// The text of an errno value.
std::string ErrnoText(int error);

}  // namespace tacho
