#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tacho {

// Owns an open file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // Returns 0 or an errno value: some file systems report only on closing that they are full.
  int Close() { return fd_ >= 0 && close(std::exchange(fd_, -1)) != 0 ? errno : 0; }

 private:
  int fd_ = -1;
};

}  // namespace tacho
