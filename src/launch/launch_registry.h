#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/live/session_lock.h"

namespace tacho {

// A launch on this host, for `tacho launch list` and `tacho launch stop`. It is kept in a file that
// only this user can read, beside the session locks.
struct LaunchRecord {
  struct Server {
    std::string name, url, log, traces;  // a router has no traces
    // The keeper's start time (`keeper_ticks`) makes its pid unique.
    int64_t pid = 0, keeper = 0, keeper_ticks = 0;
  };
  // The user's name for it: at most 64 letters, digits, '.', '_', '-', not beginning with '.'.
  std::string name;
  std::string engine, version, preset, folder, url;
  int64_t begun_unix_s = 0;
  std::vector<Server> servers;  // the router, if any, is last

  // The URL of the router, or those of all engines if there is no router.
  [[nodiscard]] std::vector<std::string> targets() const;
};

// kUsage: `name` breaks the rules for LaunchRecord::name.
Result<void> CheckLaunchName(const std::string& name);

// A name that no other launch gets while `lock` is held. Hold `lock` until the record is written.
struct TakenName {
  std::string name;
  SessionLock lock;
};
// Takes the name `asked`; if that is "", the first free name of "vllm", "vllm-2", ... kUsage: the
// name is invalid, or a launch of that name is running or just beginning.
Result<TakenName> TakeLaunchName(const std::string& asked, const std::string& engine);

// Writes the record. kOutput: it cannot be written.
Result<void> KeepLaunch(const LaunchRecord& record);

// The launches whose keepers are running, sorted by name. Removes nothing.
std::vector<LaunchRecord> RunningLaunches();
// Removes the records of launches without a running keeper. Keeps a record that cannot be read,
// because its launch may be running, and the record of a name that is being taken (TakeLaunchName).
void ForgetEndedLaunches();
// The pids of those keepers of the launch that are still running.
std::vector<int64_t> KeepersOf(const LaunchRecord& record);

}  // namespace tacho
