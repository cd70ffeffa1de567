#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "control/finding.h"

namespace tacho {

// A file for the worker in $XDG_RUNTIME_DIR/tacho or /tmp/tacho-UID, a folder of this user alone
// (mode 0700), created if missing: "FOLDER/http%3A%2F%2Fh%3A1.ENDING". kOutput without such a
// folder.
Result<std::string> SessionFile(const std::string& worker_url, std::string_view ending);

// "12:03:01" today, "2026-11-21 12:03:01" before, in this host's time zone.
std::string SinceText(int64_t unix_s);

// kBeingProfiled: by another tacho of this host, `owner`.
Finding BeingProfiled(const std::string& worker_url, const std::string& owner);

// Holds one lock for each worker, so that two tachos on this host do not profile the same engine:
// on SGLang a second start discards the window of the first. It is a lock of an open file
// (F_OFD_SETLK), released when the process ends, however it ends. Its file is removed with it.
class SessionLock {
 public:
  // kRemote: another process holds a worker; the message names it (command, pid, since when).
  // `command`: "tacho record".
  static Result<SessionLock> Take(const std::vector<std::string>& worker_urls,
                                  std::string_view command);
  // Who holds the worker's lock, without taking it: "tacho record, process 7, since 12:03:01".
  static std::optional<std::string> OwnerOf(const std::string& worker_url);
  SessionLock(SessionLock&&) noexcept;
  SessionLock& operator=(SessionLock&&) noexcept;
  ~SessionLock();

 private:
  struct Held {
    FileDescriptor file;
    std::string path;
  };
  SessionLock() = default;
  std::vector<Held> held_;
};

}  // namespace tacho
