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

}  // namespace

Result<SessionLock> SessionLock::Take(const std::vector<std::string>& worker_urls) {
  Result<std::string> folder = LockFolder();
  if (!folder) return tl::unexpected(folder.error());
  SessionLock lock;
  for (const std::string& url : worker_urls) {
    std::string path = *folder + "/" + PercentEncode(url) + ".lock";
    int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path, std::strerror(errno)));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      std::string owner = OwnerIn(file);
      close(file);
      return Fail(ErrorKind::kRemote,
                  fmt::format("{}: is being profiled by {}; a second session would spoil both", url,
                              owner));
    }
    lock.files_.push_back(file);
    std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char since[32];
    std::strftime(since, sizeof(since), "%H:%M:%S", &local);
    std::string owner = fmt::format("tacho, process {}, since {}\n", getpid(), since);
    if (ftruncate(file, 0) != 0 ||
        pwrite(file, owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size()))
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path, std::strerror(errno)));
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
