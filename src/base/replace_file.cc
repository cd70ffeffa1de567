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

constexpr int kMostBeside = 1000;

// The name is short, so it is valid even if the name of `path` has the greatest allowed length.
std::string NameBeside(const std::string& path, int number) {
  const size_t name = path.rfind('/') + 1;  // 0 without a '/'
  return fmt::format("{}.tacho-{}-{}.tmp", path.substr(0, name), getpid(), number);
}

}  // namespace

tl::unexpected<Error> CannotWrite(const std::string& what, int error) {
  return Fail(ErrorKind::kOutput, fmt::format("cannot write {}: {}", what, SystemErrorText(error)));
}

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
  int error = Open(mode);
  if (error == 0) error = Append(content);
  return error != 0 ? error : Flush();
}

int FileBeside::Open(mode_t mode) {
  std::string beside;
  for (int number = 0; number < kMostBeside; ++number) {  // other files may have these names
    beside = NameBeside(path_, number);
    file_ = FileDescriptor(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file_ || errno != EEXIST) break;
  }
  if (!file_) return errno;
  beside_ = std::move(beside);
  return 0;
}

int FileBeside::Flush() {
  // EINVAL: the file system does not support fsync.
  const int error = fsync(file_.get()) != 0 && errno != EINVAL ? errno : 0;
  const int closing = file_.Close();
  return error != 0 ? error : closing;
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
