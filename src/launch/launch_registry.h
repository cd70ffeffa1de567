#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/live/session_lock.h"

namespace tacho {

// A launch of this host, as `tacho launch list` and `stop` find it: a file of this user alone,
// beside the locks of sessions.
struct LaunchRecord {
  struct Server {
    std::string name, url, log, traces;             // a router has no traces
    int64_t pid = 0, keeper = 0, keeper_ticks = 0;  // a pid with its start is unique
  };
  std::string name;  // as the user calls it: letters, digits, '.', '_', '-', at most 64
  std::string engine, version, preset, folder, url;
  int64_t begun_unix_s = 0;
  std::vector<Server> servers;  // with the router, last

  // The router, or all engines where none is in front of them.
  [[nodiscard]] std::vector<std::string> targets() const;
};

// kUsage: not such a name.
Result<void> CheckLaunchName(const std::string& name);

// A name that no other launch gets while it is held: until the record is kept.
struct TakenName {
  std::string name;
  SessionLock lock;
};
// `asked`, or with "" the first free one of "vllm", "vllm-2", ... kUsage: no such name, or a launch
// of that name runs or is just beginning.
Result<TakenName> TakeLaunchName(const std::string& asked, const std::string& engine);

// kOutput without a folder for it, or if it cannot be written.
Result<void> KeepLaunch(const LaunchRecord& record);

// The launches that have a running keeper, by name. Removes nothing.
std::vector<LaunchRecord> RunningLaunches();
// Removes the records whose keepers are gone; one that cannot be read stays, since its launch may
// run, and so does that of a name which is held now (TakeLaunchName).
void ForgetEndedLaunches();
// Those of its keepers that run.
std::vector<int64_t> KeepersOf(const LaunchRecord& record);

}  // namespace tacho
