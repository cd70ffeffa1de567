#include "base/replace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/system_error.h"

namespace tacho {
namespace {

std::string NameBeside(const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // 0 without a '/'
  return fmt::format("{}.{}.{}.tmp", path.substr(0, name), path.substr(name), getpid());
}

}  // namespace

int WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

FileBeside::FileBeside(const std::string& path) : path_(path) {}

FileBeside::~FileBeside() {
  if (!beside_.empty()) unlink(beside_.c_str());
}

int FileBeside::Write(std::string_view content, mode_t mode) {
  std::string beside = NameBeside(path_);
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return errno;
  beside_ = std::move(beside);
  int error = WriteAll(file, content);
  // EINVAL: the file system has no disk.
  if (error == 0 && fsync(file) != 0 && errno != EINVAL) error = errno;
  // Some file systems report only here that they are full.
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

int FileBeside::Commit() {
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) return errno;
  beside_.clear();
  return 0;
}

Result<void> ReplaceFile(const std::string& path, std::string_view content, mode_t mode) {
  FileBeside file(path);
  int error = file.Write(content, mode);
  if (error == 0) error = file.Commit();
  if (error == 0) return {};
  return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path, SystemErrorText(error)));
}

}  // namespace tacho
