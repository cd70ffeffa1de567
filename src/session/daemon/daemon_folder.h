#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// Where the processes of one worker write their traces when Kineto's daemon asks them to.
struct DaemonPlace {
  std::string folder;             // the folder that the request to these processes names
  std::optional<uint32_t> owner;  // the user who owns their files in `folder`; absent: any user
  // The user whom the processes run as. This user owns KinetosOwnFileOf(pid), the file that Kineto
  // writes if it rejects `folder`.
  std::optional<uint32_t> user;
  std::string root = {};  // prefix of that file's path as seen from here: "/proc/7/root" or ""

  std::string OwnFileOf(int64_t pid) const;  // the path as seen from here
};

// A new folder that only the worker's processes may read and write. It lies below their
// KINETO_ONDEMAND_TRACE_DIR, else below /tmp, which every Kineto accepts. If the processes run as
// another user, the folder belongs to that user. The destructor removes the folder if it is empty:
// otherwise a process may still be writing to it.
class DaemonFolder {
 public:
  // `pids`: the worker's processes, its server first. If no new folder can be made, place() is the
  // existing folder `otherwise`. That happens if the processes see another /tmp, or run as another
  // user while tacho is not root.
  DaemonFolder(const std::vector<int64_t>& pids, const std::string& otherwise);
  DaemonFolder(DaemonFolder&& other) noexcept;
  DaemonFolder& operator=(DaemonFolder&&) = delete;
  ~DaemonFolder();

  const DaemonPlace& place() const { return place_; }

 private:
  DaemonPlace place_;
  bool made_ = false;
};

// The folder below which DaemonFolder would try first to make its own; "" if there is none.
std::string DaemonFolderParent(const std::vector<int64_t>& pids);

// Whether a request can name this folder, so that Kineto reads the whole name and accepts it.
bool IsFolderForKineto(const std::string& folder);

}  // namespace tacho
