#include "io/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/system_error.h"

namespace tacho {
namespace {

tl::unexpected<Error> CannotOpen(int error) {
  std::string message = "cannot be opened: " + SystemErrorText(error);
  if (error == ENOENT || error == ENOTDIR) message = "does not exist: check the path";
  if (error == EACCES || error == EPERM) {
    message = "no permission to read it: run as its owner, or make it readable with chmod";
  }
  return Fail(ErrorKind::kUnreadable, std::move(message));
}

Result<OpenedFile> CheckedStatus(FileDescriptor file) {
  OpenedFile opened{std::move(file), {}};
  if (::fstat(opened.file.get(), &opened.status) != 0) {
    return CannotOpen(errno);
  }
  if (std::string why = WhyNotReadable(opened.status.st_mode); !why.empty()) {
    return Fail(ErrorKind::kUnreadable, std::move(why));
  }
  return opened;
}

Result<OpenedFile> OpenStandardInput() {
  FileDescriptor copy(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!copy) {
    return Fail(ErrorKind::kUnreadable, "is closed: redirect a trace into it, or name a file");
  }
  if (::isatty(copy.get()) == 1) {
    return Fail(ErrorKind::kUnreadable, "is a terminal: redirect a trace into it, or name a file");
  }
  struct stat status = {};
  if (::fstat(copy.get(), &status) == 0 && S_ISCHR(status.st_mode)) {
    return Fail(ErrorKind::kUnreadable,
                "is a character device (/dev/null?), nothing to read: redirect a trace into it, or "
                "name a file");
  }
  return CheckedStatus(std::move(copy));
}

Result<OpenedFile> OpenPath(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return CannotOpen(errno);
  if (std::string why = WhyNotReadable(status.st_mode); !why.empty()) {
    return Fail(ErrorKind::kUnreadable, std::move(why));
  }
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return CannotOpen(errno);
  return CheckedStatus(std::move(file));
}

}  // namespace

Result<OpenedFile> OpenForReading(const std::string& path) {
  if (path == "-") {
    return OpenStandardInput().map_error(
        [](const Error& e) { return e.WithContext("standard input"); });
  }
  return OpenPath(path).map_error([&](const Error& e) { return e.WithContext(path); });
}

std::string WhyNotReadable(mode_t mode) {
  if (S_ISREG(mode) || S_ISFIFO(mode)) return "";
  if (S_ISDIR(mode)) return "is a folder: name a trace file in it";
  if (S_ISCHR(mode)) return "is a character device: name a trace file, or - for standard input";
  if (S_ISBLK(mode)) return "is a block device: name a trace file, or - for standard input";
  if (S_ISSOCK(mode)) return "is a socket: name a trace file, or - for standard input";
  return "is not a file that can be read: name a trace file, or - for standard input";
}

}  // namespace tacho
