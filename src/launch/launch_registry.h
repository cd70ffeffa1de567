#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/live/session_lock.h"

namespace tacho {

// A launch on this host, as `tacho launch list` and `tacho launch stop` find it. It is kept in a
// file that only this user can read, beside the locks of sessions.
struct LaunchRecord {
  struct Server {
    std::string name, url, log, traces;             // a router has no traces
    int64_t pid = 0, keeper = 0, keeper_ticks = 0;  // a pid with its start is unique
  };
  std::string name;  // as the user calls it: letters, digits, '.', '_', '-', at most 64
  std::string engine, version, preset, folder, url;
  int64_t begun_unix_s = 0;
  std::vector<Server> servers;  // the router last, if any

  // The URL of the router, or those of all engines if there is no router.
  [[nodiscard]] std::vector<std::string> targets() const;
};

// kUsage: `name` is not as LaunchRecord::name requires.
Result<void> CheckLaunchName(const std::string& name);

// A name that no other launch gets while `lock` is held. Hold it until the record is kept.
struct TakenName {
  std::string name;
  SessionLock lock;
};
// Takes `asked`, or if it is "" the first free name of "vllm", "vllm-2", ... kUsage: an invalid
// name, or a launch of that name runs or is just beginning.
Result<TakenName> TakeLaunchName(const std::string& asked, const std::string& engine);

// Writes the record. kOutput: it cannot be written.
Result<void> KeepLaunch(const LaunchRecord& record);

// The launches that have a running keeper, by name. Removes nothing.
std::vector<LaunchRecord> RunningLaunches();
// Removes the records whose keepers are gone. Keeps a record that cannot be read, since its launch
// may run, and the record of a name that is held now (TakeLaunchName).
void ForgetEndedLaunches();
// The pids of the launch's keepers that still run.
std::vector<int64_t> KeepersOf(const LaunchRecord& record);

}  // namespace tacho
