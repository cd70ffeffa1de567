#pragma once

#include <chrono>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/live/probed_workers.h"
#include "control/live/session_lock.h"
#include "net/http_client.h"

namespace tacho {

struct HoldOptions {
  std::vector<std::string> targets;
  size_t least_workers = 1;
  bool wake = false;
  std::chrono::milliseconds patience{0};  // for each answer, also to a stop or a wake
};

// One look at a deployment.
struct EngineLook {
  Deployment deployment;
  std::vector<ProbedWorker> workers;
  std::string waits_for;     // why the deployment is not ready; "" if it is
  bool only_asleep = false;  // the deployment is ready once the sleeping engines are awake
};

// The changes between two looks, a line each: an engine joined or left the list, died, came back,
// was restarted, went to sleep or woke.
std::vector<std::string> ChangesBetween(const std::vector<ProbedWorker>& before,
                                        const std::vector<ProbedWorker>& now);

// Engines that are kept ready for recordings. Until Release they are locked (SessionLock) against
// all tachos but those that run under this hold.
class HeldEngines {
 public:
  HeldEngines(HttpClient& client, HoldOptions options)
      : client_(client), options_(std::move(options)) {}

  // Looks at the targets once. If a log names no server yet, or a server does not answer, the look
  // says so in `waits_for`. kUsage: a target that is neither a file nor an address.
  Result<EngineLook> Look(const std::stop_token& stop) const;
  // Locks the engines of `look` and wakes the sleeping ones. `look` must wait for nothing but
  // sleeping engines. kRemote: another tacho holds an engine, or an engine does not wake. kUsage:
  // an engine cannot be profiled.
  Result<void> Take(const EngineLook& look, const std::stop_token& stop);

  // Looks again, unless somebody records under this hold: probes would disturb the recording. Locks
  // the engines that joined. Returns lines that say what changed.
  std::vector<std::string> Watch(const std::stop_token& stop);
  // Stops the profilers that were started under this hold, puts the engines that it woke to sleep
  // again, and releases the locks. Returns lines that say what was done; sets `failed` if a step
  // failed.
  std::vector<std::string> Release(bool& failed);

  [[nodiscard]] const EngineLook& look() const { return look_; }
  // Who profiles under this hold; "" if nobody does.
  [[nodiscard]] std::string Recorder() const;
  // The URLs of the engines that it woke, separated by blanks.
  [[nodiscard]] std::string Woken() const;

 private:
  Result<void> Lock(const ProbedWorker& probed);

  HttpClient& client_;
  const HoldOptions options_;
  EngineLook look_;
  // Sessions that others had left open when their engine was locked.
  std::set<std::string> of_others_;
  std::map<std::string, SessionLock> locks_;  // by URL
  std::map<std::string, int> woken_;          // by URL: the level of its sleep
  std::string router_trouble_;                // the last one reported
};

}  // namespace tacho
