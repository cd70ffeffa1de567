#include "control/session_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "net/url.h"

namespace tacho {
namespace {

// A folder of this user alone: others must not be able to put files or links into it.
Result<std::string> LockFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string folder = runtime != nullptr && *runtime != '\0'
                           ? std::string(runtime) + "/tacho"
                           : fmt::format("/tmp/tacho-{}", getuid());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return Fail(ErrorKind::kOutput, fmt::format("{}: {}", folder, std::strerror(errno)));
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != getuid() || (status.st_mode & 077) != 0)
    return Fail(
        ErrorKind::kOutput,
        fmt::format("{}: must be a folder of yours alone (mode 0700) to hold locks in", folder));
  return folder;
}

std::string OwnerIn(int file) {
  char text[256] = {};
  ssize_t size = pread(file, text, sizeof(text) - 1, 0);
  std::string owner = size > 0 ? std::string(text, static_cast<size_t>(size)) : "somebody";
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  return owner;
}

std::string TimeText(std::time_t seconds, const char* format) {
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof(text), format, &local);
  return text;
}

}  // namespace

Result<std::string> SessionFile(const std::string& worker_url, std::string_view ending) {
  return LockFolder().map([&](const std::string& folder) {
    return fmt::format("{}/{}.{}", folder, PercentEncode(worker_url), ending);
  });
}

std::string SinceText(int64_t unix_s) {
  const bool today = TimeText(unix_s, "%F") == TimeText(std::time(nullptr), "%F");
  return TimeText(unix_s, today ? "%T" : "%F %T");
}

Result<SessionLock> SessionLock::Take(const std::vector<std::string>& worker_urls,
                                      std::string_view command) {
  SessionLock lock;
  for (const std::string& url : worker_urls) {
    Result<std::string> path = SessionFile(url, "lock");
    if (!path) return tl::unexpected(path.error());
    int file = open(path->c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}", *path, std::strerror(errno)));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      std::string owner = OwnerIn(file);
      close(file);
      return Fail(ErrorKind::kRemote, fmt::format("{}: is being profiled by {}", url, owner));
    }
    lock.files_.push_back(file);
    std::string owner = fmt::format("{}, process {}, since {}\n", command, getpid(),
                                    TimeText(std::time(nullptr), "%T"));
    if (ftruncate(file, 0) != 0 ||
        pwrite(file, owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size()))
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}", *path, std::strerror(errno)));
  }
  return lock;
}

SessionLock::SessionLock(SessionLock&& other) noexcept : files_(std::exchange(other.files_, {})) {}

SessionLock& SessionLock::operator=(SessionLock&& other) noexcept {
  std::swap(files_, other.files_);
  return *this;
}

SessionLock::~SessionLock() {
  // Closing gives the lock back. The files stay: removing one that another process has just opened
  // would leave two owners.
  for (int file : files_) close(file);
}

}  // namespace tacho
