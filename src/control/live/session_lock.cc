#include "control/live/session_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
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

std::string OwnerIn(int file) {
  char text[256] = {};
  ssize_t size = pread(file, text, sizeof(text) - 1, 0);
  std::string owner = size > 0 ? std::string(text, static_cast<size_t>(size)) : "somebody";
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  return owner;
}

// The process id in the text that describes an owner: "7" in "tacho record, process 7, since
// 12:03:01".
std::string_view ProcessOf(std::string_view owner) {
  constexpr std::string_view kBefore = ", process ";
  const size_t at = owner.find(kBefore);
  if (at == std::string_view::npos) return "";
  owner.remove_prefix(at + kBefore.size());
  return owner.substr(0, owner.find(','));
}

constexpr std::string_view kLock = "lock", kLockUnderHold = "held.lock";

std::string TimeText(std::time_t seconds, const char* format) {
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof(text), format, &local);
  return text;
}

struct flock WholeFile() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool IsAt(const std::string& path, int file) {
  struct stat there {
  }, own{};
  return lstat(path.c_str(), &there) == 0 && fstat(file, &own) == 0 && there.st_dev == own.st_dev &&
         there.st_ino == own.st_ino;
}

// Opens and locks the file at `path`. The file's last owner may remove it between our open and our
// lock. Such a lock is worthless, so it tries again with the file that is now at `path`.
Result<FileDescriptor> Locked(const std::string& path, const std::string& url) {
  while (true) {
    FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    struct flock lock = WholeFile();
    const bool locked = file && fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
    if (!locked && file && (errno == EAGAIN || errno == EACCES))
      return tl::unexpected(ErrorOf(BeingProfiled(url, OwnerIn(file.get()))));
    if (!locked) return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path, std::strerror(errno)));
    if (IsAt(path, file.get())) return file;
  }
}

std::optional<std::string> OwnerOfFile(const std::string& worker_url, std::string_view ending) {
  const Result<std::string> path = SessionFile(worker_url, ending);
  if (!path) return std::nullopt;
  const FileDescriptor file(open(path->c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct flock lock = WholeFile();
  if (!file || fcntl(file.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
    return std::nullopt;
  return OwnerIn(file.get());
}

}  // namespace

// The folder must be one that only this user can write, so that nobody else puts files or links
// into it.
Result<std::string> RuntimeFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string folder = runtime != nullptr && *runtime != '\0'
                           ? std::string(runtime) + "/tacho"
                           : fmt::format("/tmp/tacho-{}", getuid());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return Fail(ErrorKind::kOutput, fmt::format("{}: {}", folder, std::strerror(errno)));
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != getuid() || (status.st_mode & 077) != 0)
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: must be a folder of yours alone (mode 0700)", folder));
  return folder;
}

bool IsOurHold(std::string_view owner) {
  const char* const hold = std::getenv(kHoldVariable);
  return hold != nullptr && owner.starts_with(kByHold) && ProcessOf(owner) == hold;
}

Finding BeingProfiled(const std::string& worker_url, const std::string& owner) {
  if (!owner.starts_with(kByHold))
    return {FindingId::kBeingProfiled, worker_url, "is being profiled by " + owner};
  return {FindingId::kBeingProfiled, worker_url, "is held by " + owner,
          fmt::format("to profile it all the same: {}={} before the command", kHoldVariable,
                      ProcessOf(owner))};
}

Result<std::string> SessionFile(const std::string& worker_url, std::string_view ending) {
  return RuntimeFolder().map([&](const std::string& folder) {
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
    const auto outer = OwnerOfFile(url, kLock);
    TACHO_ASSIGN_OR_RETURN(std::string path,
                           SessionFile(url, outer && IsOurHold(*outer) ? kLockUnderHold : kLock));
    TACHO_ASSIGN_OR_RETURN(FileDescriptor file, Locked(path, url));
    const std::string owner = fmt::format("{}, process {}, since {}\n", command, getpid(),
                                          TimeText(std::time(nullptr), "%T"));
    lock.held_.push_back({std::move(file), path});
    const int fd = lock.held_.back().file.get();
    if (ftruncate(fd, 0) != 0 ||
        pwrite(fd, owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size()))
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return lock;
}

Result<SessionLock> SessionLock::TakePort(uint16_t port, std::string_view command) {
  return Take({fmt::format("port {}", port)}, command);
}

std::optional<std::string> SessionLock::OwnerOf(const std::string& worker_url) {
  auto under = OwnerOfFile(worker_url, kLockUnderHold);
  return under ? under : OwnerOfFile(worker_url, kLock);
}

SessionLock::SessionLock(SessionLock&& other) noexcept : held_(std::exchange(other.held_, {})) {}

SessionLock& SessionLock::operator=(SessionLock&& other) noexcept {
  std::swap(held_, other.held_);
  return *this;
}

SessionLock::~SessionLock() {
  // While we hold the lock, the file at this path is ours.
  for (const Held& held : held_) unlink(held.path.c_str());
}

}  // namespace tacho
