#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// Where the processes of one worker write their traces when Kineto's daemon asks for them.
struct DaemonPlace {
  std::string folder;             // the one that they are told
  std::optional<uint32_t> owner;  // who owns their files there; absent: anybody
  // The user of the processes: owner of KinetosOwnFileOf(pid), which Kineto writes if it does not
  // take the folder.
  std::optional<uint32_t> user;
  std::string root = {};  // prefix of that file's path as seen from here: "/proc/7/root" or ""

  std::string OwnFileOf(int64_t pid) const;  // that file's path as seen from here
};

// A new folder that the worker's processes may write to, and nobody else may look into: below their
// KINETO_ONDEMAND_TRACE_DIR, else below /tmp, which every Kineto accepts. It belongs to the
// processes' user if that is another one. The destructor removes it if it is empty: a process may
// still be writing.
class DaemonFolder {
 public:
  // `pids`: the worker's processes, its server first. If no such folder can be made (they have
  // another /tmp, or another user and tacho is not root), they are told the folder `otherwise`,
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

// The folder below which a DaemonFolder would be made, if that is not full.
std::string DaemonFolderParent(const std::vector<int64_t>& pids);

// Whether Kineto reads this folder's whole name from a request, and accepts it as one to write to.
bool IsFolderForKineto(const std::string& folder);

}  // namespace tacho
