#include "session/daemon/daemon_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file_descriptor.h"
#include "control/live/local_engine.h"
#include "control/live/port_owner.h"
#include "net/kineto_message.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// The process whose user and view of the files count: the first of `pids` that is set up to poll
// the daemon. Other processes, such as a shell that started the server, may belong to another user.
int64_t WhoAsks(const std::vector<int64_t>& pids) {
  const auto asks = std::ranges::find_if(
      pids, [](int64_t pid) { return EnvironmentOf(pid, "KINETO_USE_DAEMON").has_value(); });
  return asks != pids.end() ? *asks : pids.empty() ? 0 : pids.front();
}

// Whether the path `folder` leads the process to the same folder as tacho. True also if that cannot
// be checked.
bool SeesTheSame(int64_t pid, const std::string& folder) {
  std::error_code failed;
  const bool same = fs::equivalent(fmt::format("/proc/{}/root{}", pid, folder), folder, failed);
  return same || failed;
}

// Makes a new folder in `parent` that only `user` may use. Returns its owner as the file system
// reports it, which on NFS may be another user; nullopt if the folder could not be made.
std::optional<uint32_t> MakeFor(std::optional<uint32_t> user, const std::string& parent,
                                std::string& folder) {
  folder = parent + (parent.ends_with('/') ? "" : "/") + "tacho-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return std::nullopt;
  // Opened by its descriptor, because the owner of `parent` may have put another folder there.
  const FileDescriptor opened(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool is_ours = opened && fstat(opened.get(), &status) == 0;
  const bool is_theirs = is_ours && (!user || *user == geteuid());
  if (is_theirs) return status.st_uid;
  if (is_ours && status.st_uid == geteuid() && (status.st_mode & 0077) == 0 &&
      fchown(opened.get(), *user, static_cast<gid_t>(-1)) == 0 &&
      fstat(opened.get(), &status) == 0 && status.st_uid == *user)
    return status.st_uid;
  rmdir(folder.c_str());
  return std::nullopt;
}

// The folders below which Kineto lets a daemon put traces. Leaves out folders that tacho cannot
// write to, and folders that are not the same for the polling process as for tacho.
std::vector<std::string> ParentsFor(const std::vector<int64_t>& pids) {
  std::vector<std::string> parents = {DaemonTraceFolder(pids), "/tmp"};
  std::erase_if(parents, [pid = WhoAsks(pids)](const std::string& parent) {
    return !IsFolderForKineto(parent) || access(parent.c_str(), W_OK) != 0 ||
           !SeesTheSame(pid, parent);
  });
  return parents;
}

}  // namespace

std::string DaemonFolderParent(const std::vector<int64_t>& pids) {
  const std::vector<std::string> parents = ParentsFor(pids);
  return parents.empty() ? "" : parents.front();
}

std::string DaemonPlace::OwnFileOf(int64_t pid) const {
  return root + KinetosOwnFileOf(std::to_string(pid));
}

// Kineto inserts the pid before the first ".json" of a path, so the folder must not contain one.
bool IsFolderForKineto(const std::string& folder) {
  const auto holds = [&](std::string_view part) { return folder.find(part) != std::string::npos; };
  return folder.starts_with('/') && !holds("..") && !holds(".json") && !holds("\n");
}

DaemonFolder::DaemonFolder(const std::vector<int64_t>& pids, const std::string& otherwise) {
  const int64_t pid = WhoAsks(pids);
  place_.user = UserOf(pid);
  if (!SeesTheSame(pid, "/tmp")) place_.root = fmt::format("/proc/{}/root", pid);
  for (const std::string& parent : ParentsFor(pids)) {
    place_.owner = MakeFor(place_.user, parent, place_.folder);
    made_ = place_.owner.has_value();
    if (made_) return;
  }
  place_.folder = otherwise;
}

DaemonFolder::DaemonFolder(DaemonFolder&& other) noexcept
    : place_(std::move(other.place_)), made_(std::exchange(other.made_, false)) {}

DaemonFolder::~DaemonFolder() {
  if (made_) rmdir(place_.folder.c_str());
}

}  // namespace tacho
