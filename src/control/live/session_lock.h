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

// $XDG_RUNTIME_DIR/tacho or /tmp/tacho-UID, a folder of this user alone (mode 0700), created if
// missing. kOutput without such a folder.
Result<std::string> RuntimeFolder();

// A file for the worker in that folder: "FOLDER/http%3A%2F%2Fh%3A1.ENDING".
Result<std::string> SessionFile(const std::string& worker_url, std::string_view ending);

// "12:03:01" today, "2026-11-21 12:03:01" before, in this host's time zone.
std::string SinceText(int64_t unix_s);

// The variable in the environment of commands under a `tacho engine hold`: the pid of that hold.
inline constexpr char kHoldVariable[] = "TACHO_HOLD";
// OwnerOf's text begins with this if a hold owns the lock.
inline constexpr std::string_view kByHold = "tacho engine hold";

// Whether `owner` is the hold under which this process runs (kHoldVariable).
bool IsOurHold(std::string_view owner);

// kBeingProfiled: another tacho of this host, `owner`, profiles the worker, or holds it for the
// commands that run under it.
Finding BeingProfiled(const std::string& worker_url, const std::string& owner);

// Holds one lock for each worker, so that two tachos on this host do not profile the same engine:
// on SGLang a second start discards the window of the first. It is a lock of an open file
// (F_OFD_SETLK), released when the process ends, however it ends. The destructor removes the file.
// A command that runs under a hold (kHoldVariable) ignores the hold's lock and takes a second one,
// which keeps the commands under the hold apart.
class SessionLock {
 public:
  // kRemote: another process holds a worker; the message names it (command, pid, since when).
  // `command`: "tacho record".
  static Result<SessionLock> Take(const std::vector<std::string>& worker_urls,
                                  std::string_view command);
  // Locks a port of this host for a server that is about to listen on it: another tacho that looks
  // for a free port takes the next one. The same errors as Take.
  static Result<SessionLock> TakePort(uint16_t port, std::string_view command);
  // Who holds the worker's lock, without taking it: "tacho record, process 7, since 12:03:01". If a
  // command under a hold profiles the worker, returns that command and not the hold.
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
