#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// Where the processes of one worker write their traces when Kineto's daemon asks for them.
struct DaemonPlace {
  std::string folder;             // that they are told
  std::optional<uint32_t> owner;  // of what they write there; absent: anybody
  // Of a process that does not take the folder, and writes KinetosOwnFileOf its pid.
  std::optional<uint32_t> user;
  std::string root = {};  // what that path begins with as seen from here: "/proc/7/root" or ""

  std::string OwnFileOf(int64_t pid) const;  // as seen from here
};

// A new folder that the worker's processes may write to, and nobody else looks into: below their
// KINETO_ONDEMAND_TRACE_DIR, else below /tmp, where every Kineto takes it. Is theirs if they are of
// another user. Is removed with the object if it is empty then: a process may still be writing.
class DaemonFolder {
 public:
  // `pids`: the worker's, its server first. Where no such folder can be made (theirs is another
  // /tmp, or their user is another one and this is not root) they are told `otherwise`, as it is.
  DaemonFolder(const std::vector<int64_t>& pids, const std::string& otherwise);
  DaemonFolder(DaemonFolder&& other) noexcept;
  DaemonFolder& operator=(DaemonFolder&&) = delete;
  ~DaemonFolder();

  const DaemonPlace& place() const { return place_; }

 private:
  DaemonPlace place_;
  bool made_ = false;
};

// Below which folder it would be made, if that is not full.
std::string DaemonFolderParent(const std::vector<int64_t>& pids);

// Whether Kineto reads this folder whole from a request, and takes it as one to write to.
bool IsFolderForKineto(const std::string& folder);

}  // namespace tacho
