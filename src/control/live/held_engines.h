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
  std::chrono::milliseconds patience{0};  // time limit for each answer, also to a stop or a wake
};

// One look at a deployment.
struct EngineLook {
  Deployment deployment;
  std::vector<ProbedWorker> workers;
  std::string waits_for;     // why the deployment is not ready; "" if it is ready
  bool only_asleep = false;  // the deployment would be ready if the sleeping engines were awake
};

// What changed between two looks, one line for each change: an engine joined or left the list,
// died, came back, was restarted, went to sleep or woke up.
std::vector<std::string> ChangesBetween(const std::vector<ProbedWorker>& before,
                                        const std::vector<ProbedWorker>& now);

// Engines that are kept ready for recordings. Until Release they are locked (SessionLock) against
// every tacho that does not run under this hold.
class HeldEngines {
 public:
  HeldEngines(HttpClient& client, HoldOptions options)
      : client_(client), options_(std::move(options)) {}

  // Looks at the targets once. If a log names no server yet or a server does not answer,
  // `waits_for` says so. kUsage: a target is neither a file nor an address.
  Result<EngineLook> Look(const std::stop_token& stop) const;
  // Locks the engines of `look` and wakes those that sleep. Call it only if `look` waits for
  // nothing except sleeping engines. kRemote: another tacho has locked an engine, or an engine does
  // not wake up. kUsage: an engine cannot be profiled.
  Result<void> Take(const EngineLook& look, const std::stop_token& stop);

  // Looks again, unless somebody records under this hold, because probes would disturb that
  // recording. Locks the engines that joined. Returns lines that say what changed.
  std::vector<std::string> Watch(const std::stop_token& stop);
  // Stops the profilers that were started under this hold, puts the engines that it woke back to
  // sleep, and releases the locks. Returns lines that say what was done. `failed`: whether any step
  // failed.
  std::vector<std::string> Release(bool& failed);

  [[nodiscard]] const EngineLook& look() const { return look_; }
  // Who profiles under this hold; "" if nobody does.
  [[nodiscard]] std::string Recorder() const;
  // The URLs of the engines that this hold woke, separated by blanks.
  [[nodiscard]] std::string Woken() const;

 private:
  Result<void> Lock(const ProbedWorker& probed);

  HttpClient& client_;
  const HoldOptions options_;
  EngineLook look_;
  // Keys of the sessions that were already open when this hold locked their engine.
  std::set<std::string> of_others_;
  std::map<std::string, SessionLock> locks_;  // by URL
  std::map<std::string, int> woken_;          // by URL: the sleep level that it had
  std::string router_trouble_;                // the last one reported
};

}  // namespace tacho
