#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// Where the processes of one worker write their traces when Kineto's daemon asks for them.
struct DaemonPlace {
  std::string folder;             // named in their requests
  std::optional<uint32_t> owner;  // owner of their files there; absent: anybody
  // The user of the processes: owner of KinetosOwnFileOf(pid), which Kineto writes if it does not
  // take the folder.
  std::optional<uint32_t> user;
  std::string root = {};  // prefix of that file's path on this host: "/proc/7/root" or ""

  std::string OwnFileOf(int64_t pid) const;  // on this host
};

// A new folder that the worker's processes may write to, and nobody else may look into: below their
// KINETO_ONDEMAND_TRACE_DIR, else below /tmp, which every Kineto accepts. If the processes run as
// another user, the folder belongs to that user. The destructor removes it if it is empty: a
// process may still be writing.
class DaemonFolder {
 public:
  // `pids`: the worker's processes, its server first. If no such folder can be made (they have
  // another /tmp, or another user and tacho is not root), place() is the folder `otherwise`,
  // unchanged.
  DaemonFolder(const std::vector<int64_t>& pids, const std::string& otherwise);
  DaemonFolder(DaemonFolder&& other) noexcept;
  DaemonFolder& operator=(DaemonFolder&&) = delete;
  ~DaemonFolder();

  const DaemonPlace& place() const { return place_; }

 private:
  DaemonPlace place_;
  bool made_ = false;
};

// The first folder below which a DaemonFolder would be tried; "" if there is no such folder.
std::string DaemonFolderParent(const std::vector<int64_t>& pids);

// Whether a request can name this folder: Kineto reads the name whole and accepts it.
bool IsFolderForKineto(const std::string& folder);

}  // namespace tacho
