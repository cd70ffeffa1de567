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
  std::chrono::milliseconds patience{0};  // for an answer; to a stop or a wake as well
};

// One look at a deployment.
struct EngineLook {
  Deployment deployment;
  std::vector<ProbedWorker> workers;
  std::string waits_for;     // why it is not ready; "" if it is
  bool only_asleep = false;  // once all that sleep are awake, it is
};

// What happened to engines between two looks: one that joined or left the list, died, came back,
// was restarted, went to sleep or woke. A line each.
std::vector<std::string> ChangesBetween(const std::vector<ProbedWorker>& before,
                                        const std::vector<ProbedWorker>& now);

// Engines that are kept ready for recordings: locked against other tachos (SessionLock), except
// those under this hold, until Release.
class HeldEngines {
 public:
  HeldEngines(HttpClient& client, HoldOptions options)
      : client_(client), options_(std::move(options)) {}

  // Looks at the targets: a log that names no server yet and a server that does not answer are
  // waited for. kUsage: a target that is neither a file nor an address.
  Result<EngineLook> Look(const std::stop_token& stop) const;
  // Locks the engines of a look that waits for nothing but sleepers, and wakes those. kRemote:
  // another tacho has one, or one does not wake. kUsage: one cannot be profiled.
  Result<void> Take(const EngineLook& look, const std::stop_token& stop);

  // Looks again, unless somebody records under this hold: questions would be in the way. Says what
  // changed, and locks what joined.
  std::vector<std::string> Watch(const std::stop_token& stop);
  // Stops the profilers that were started under this hold, puts to sleep what it woke, and gives
  // the locks back. Lines that say what was done; `failed` if something was not.
  std::vector<std::string> Release(bool& failed);

  [[nodiscard]] const EngineLook& look() const { return look_; }
  // Who profiles under this hold; "" if nobody does.
  [[nodiscard]] std::string Recorder() const;
  // The URLs of what it woke, with blanks between.
  [[nodiscard]] std::string Woken() const;

 private:
  Result<void> Lock(const ProbedWorker& probed);

  HttpClient& client_;
  const HoldOptions options_;
  EngineLook look_;
  std::set<std::string> of_others_;  // sessions that were open when their engine was locked
  std::map<std::string, SessionLock> locks_;  // by URL
  std::map<std::string, int> woken_;          // URL: level of its sleep
  std::string router_trouble_;                // that was said
};

}  // namespace tacho
