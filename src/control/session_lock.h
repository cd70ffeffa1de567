#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// Holds one lock for each worker, so that two tachos of this host do not profile the same engine:
// a second start throws away the first one's window on SGLang. Locks are flock()ed files in
// $XDG_RUNTIME_DIR/tacho or /tmp/tacho-UID (mode 0700), free when the process ends, however it
// ends.
class SessionLock {
 public:
  // kRemote when a worker is taken: the message names the owner (pid, command, since when).
  static Result<SessionLock> Take(const std::vector<std::string>& worker_urls);
  SessionLock(SessionLock&&) noexcept;
  SessionLock& operator=(SessionLock&&) noexcept;
  ~SessionLock();

 private:
  SessionLock() = default;
  std::vector<int> files_;
};

}  // namespace tacho
