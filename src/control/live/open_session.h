#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "control/engine.h"
#include "control/finding.h"
#include "control/live/profile_control.h"

namespace tacho {

// The value of OpenSession::command if a recording started the session.
inline constexpr char kByRecord[] = "tacho record";

// A profiling session that is still running: `tacho engine start` left it, or `tacho record` will
// stop it unless tacho is killed first. It is kept in a file beside the worker's lock. The file
// outlives the process and stays until the session is stopped. Only the owner of the worker's lock
// may change the file.
struct OpenSession {
  std::string key;  // ProfileOptions::key
  int64_t since_unix_s = 0;
  std::optional<int64_t> steps;  // absent: the session runs until it is stopped
  bool by_stage = false;         // `steps` counts the steps of each stage
  EngineInstance instance;       // EngineFacts::instance at its start
  std::string folder = {};       // the folder in the start request; "": none
  std::string command = "tacho engine start";
};

Result<void> KeepOpenSession(const std::string& worker_url, const OpenSession& session);
void ForgetOpenSession(const std::string& worker_url);

// The session that is still open on the worker; nullopt if there is none, or if the engine has
// restarted since.
std::optional<OpenSession> FindOpenSession(const Worker& worker, const EngineFacts& facts);

// "its profiler was started by tacho record at 04:50:51 (session evening) and not stopped since"
std::string StartedText(const OpenSession& open);
// kOpenSession: says what a second start would do while `open` is running.
Finding OpenSessionOn(const std::string& url, const OpenSession& open, const EngineFacts& facts);
// The finding that an open session blocks a start with `options`; it says what that start would do.
// A session that counts its steps does not block if the engine itself refuses a second start and
// ends the session without a stop. `stops_first`: the caller stops the engine first, so a session
// that a recording left running does not block, because nobody is waiting for it.
std::optional<Finding> FindSessionInTheWay(const Worker& worker, const EngineFacts& facts,
                                           const ProfileOptions& options, bool stops_first = false);

}  // namespace tacho
