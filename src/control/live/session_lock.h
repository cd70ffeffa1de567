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

// The path of $XDG_RUNTIME_DIR/tacho or /tmp/tacho-UID: a folder that only this user can access
// (mode 0700), created if it does not exist. kOutput: the folder cannot be made, or others can
// access it.
Result<std::string> RuntimeFolder();

// The path of a file for the worker in that folder: "FOLDER/http%3A%2F%2Fh%3A1.ENDING".
Result<std::string> SessionFile(const std::string& worker_url, std::string_view ending);

// The time as "12:03:01" if it is today, else as "2026-11-21 12:03:01", in this host's time zone.
std::string SinceText(int64_t unix_s);

// Environment variable of commands that run under a `tacho engine hold`: the pid of that hold.
inline constexpr char kHoldVariable[] = "TACHO_HOLD";
// OwnerOf returns a text with this beginning if a hold owns the lock.
inline constexpr std::string_view kByHold = "tacho engine hold";

// Whether `owner` is the hold under which this process runs (kHoldVariable).
bool IsOurHold(std::string_view owner);

// The finding kBeingProfiled: `owner`, another tacho on this host, is profiling the worker, or
// holds it for the commands that run under it.
Finding BeingProfiled(const std::string& worker_url, const std::string& owner);

// Holds one lock for each worker, so that two tachos on this host do not profile the same engine:
// on SGLang a second start discards the first one's window. It is a lock on an open file
// (F_OFD_SETLK), which is released however the process ends. The destructor removes the file. A
// command that runs under a hold (kHoldVariable) ignores the hold's lock and takes a second lock,
// so that two commands under one hold do not collide.
class SessionLock {
 public:
  // kRemote: another process has locked a worker; the message names that process (command, pid,
  // since when). `command`: "tacho record".
  static Result<SessionLock> Take(const std::vector<std::string>& worker_urls,
                                  std::string_view command);
  // Locks a port of this host for a server that will soon listen on it, so that another tacho that
  // looks for a free port takes the next one. Fails like Take.
  static Result<SessionLock> TakePort(uint16_t port, std::string_view command);
  // Who has locked the worker, without locking it: "tacho record, process 7, since 12:03:01". If a
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
