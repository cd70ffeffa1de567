#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "control/engine.h"
#include "control/finding.h"
#include "control/live/profile_control.h"

namespace tacho {

// OpenSession::command of a recording.
inline constexpr char kByRecord[] = "tacho record";

// A session that runs: `tacho engine start` left it so, or `tacho record` is about to stop it,
// unless it was killed. It is kept in a file beside the worker's lock, and outlives the process,
// until its stop. Whoever changes it holds the worker's lock.
struct OpenSession {
  std::string key;  // of ProfileOptions
  int64_t since_unix_s = 0;
  std::optional<int64_t> steps;  // absent: until it is stopped
  bool by_stage = false;         // the steps are those of each stage
  std::string instance;          // of EngineFacts, when it was started
  std::string folder = {};       // where the start told the engine to write; "": where it does
  std::string command = "tacho engine start";
};

Result<void> KeepOpenSession(const std::string& worker_url, const OpenSession& session);
void ForgetOpenSession(const std::string& worker_url);

// The session that is still open on the worker: nothing where the engine is another process by now.
std::optional<OpenSession> FindOpenSession(const Worker& worker, const EngineFacts& facts);

// "its profiler was started by tacho record at 04:50:51 (session evening) and not stopped since"
std::string StartedText(const OpenSession& open);
// kOpenSession: what would become of a start beside `open`.
Finding OpenSessionOn(const std::string& url, const OpenSession& open, const EngineFacts& facts);
// The open session that a start with `options` would meet, with what would become of it. One that
// counts its steps is not in the way if the engine guards it by itself, and ends it without a stop.
// `stops_first`: the caller stops the engine first, so one that a recording left running is not in
// the way either: nobody waits for it.
std::optional<Finding> FindSessionInTheWay(const Worker& worker, const EngineFacts& facts,
                                           const ProfileOptions& options, bool stops_first = false);

}  // namespace tacho
