#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/engine.h"
#include "net/http_client.h"

namespace tacho {

// What to record. An absent member means the engine's default.
struct ProfileOptions {
  std::string key;  // names the session: profile_prefix and profile_id where the engine reads them
  std::optional<int64_t> steps;  // engine steps; absent: until stop
  // By default SGLang begins a session of exactly `steps` steps with its next batch, and waits for
  // that batch even after a stop. If set, it begins now; in old versions the number may then be off
  // by one.
  bool at_once = false;
  std::optional<std::string> output_dir;  // SGLang: a folder on the engine's machine
  // More fields of the start request, by the engine's own names, as the user wrote their values:
  // {"with_stack", "true"}, {"activities", "CPU+GPU"}.
  std::map<std::string, std::string> fields;

  bool IsOn(const std::string& flag) const;
  // Sets the key to `name`, with the field profile_prefix in front if it is set: the file names
  // begin with both.
  void NameSession(const std::string& name);
};

// A field of a start request with its value as JSON.
struct StartField {
  std::string name, json;
};
// The fields of `options` as that version of `engine` ("vllm", "sglang", or "daemon" for Kineto's
// protocol) accepts them. kUsage: one that it does not accept, with the reason and the remedy.
Result<std::vector<StartField>> CheckFields(std::string_view engine, std::string_view version,
                                            const ProfileOptions& options);

// One request as it will be sent, to be shown, kept and repeated.
struct ControlRequest {
  std::string url;   // of the worker
  std::string path;  // "/start_profile"
  std::string body;  // JSON, or ""
  // For a stop: the body that cancels a session that has not begun; "" if the engine takes no such
  // body.
  std::string take_back_body = {};
  // For a start: the body that is posted to the same path first. The engine refuses it while a
  // session runs, and otherwise does nothing. "" if a start cannot end another session, or the
  // engine has no such check.
  std::string guard_body = {};
  // The route's path in other versions, used if `path` does not exist; "" if it never moved.
  std::string other_path = {};
  std::string AsCurl() const;  // of guard and request, one line each
};

// The start request for one engine, by its version's rules (control/rules/*.rules). kUsage: what
// the engine cannot do or what would kill or flood it, with the reason and the remedy: no profiler
// configured, stacks without a bound on steps, SGLang's output_dir that cannot be made, a prefix
// with '/', by_stage without steps, ...
Result<ControlRequest> PlanStart(const Worker& worker, const EngineFacts& facts,
                                 const ProfileOptions& options);
// Whether the engine's file names contain the session's key.
bool KeyNamesFiles(const EngineFacts& facts);
// The stop request for one engine. `counted`: the session counts its steps, and not by stage. If an
// SGLang has not yet run a step of such a session, it answers the stop as if no session ran, and
// begins the session with the next request. So the stop carries a take_back_body: the start of a
// session that never begins. That start replaces the waiting session.
ControlRequest PlanStop(const Worker& worker, const EngineFacts& facts, bool counted);

enum class ControlVerdict {
  kDone,      // the engine confirmed it
  kWasSo,     // nothing to do: the profiler that was to stop did not run
  kRefused,   // the engine refused (409, 400, 404, 500)
  kNoAnswer,  // no connection, timeout, or a lost connection
};
struct ControlOutcome {
  std::string url;
  ControlVerdict verdict = ControlVerdict::kNoAnswer;
  int status = 0;           // HTTP status; 0 without an answer
  std::string said;         // the engine's message, or ours; with the remedy if one is known
  uint32_t place_size = 0;  // bytes of `said` that name the URL first, as in Error
  int64_t sent_ns = 0;      // CLOCK_MONOTONIC
  int64_t answered_ns = 0;
  bool taken = false;  // a start was refused because another session seems to run

  // What it said, without the URL.
  std::string_view Words() const { return std::string_view(said).substr(place_size); }
  bool IsGood() const {
    return verdict == ControlVerdict::kDone || verdict == ControlVerdict::kWasSo;
  }
  // For a stop: whether its answer means that no session runs. A refusal does not: it may come from
  // a proxy, or some ranks may still run. A 404 does: without a profile route no session can run.
  bool TellsThatNothingRuns() const { return IsGood() || status == 404; }
};

// Asks the engines whether a session runs in them: sends only the guards of `starts`. A start
// without a guard passes. If a session of an SGLang still waits for its first step, the SGLang does
// not report that session, and loses it, as it would with any start. So do not call it before the
// load runs. Results in the order of `starts`.
std::vector<ControlOutcome> AskWhetherTaken(HttpClient& client,
                                            const std::vector<ControlRequest>& starts,
                                            const std::vector<EngineFacts>& facts,
                                            std::chrono::milliseconds patience,
                                            std::stop_token stop);

// Sends all requests at the same time, after their guards: a start whose guard is refused is not
// sent. Waits for all answers, without a limit if `patience` is 0. Calls `ended` for each answer.
// Results in the order of `requests`. No request is sent twice: a start without an answer may have
// begun.
std::vector<ControlOutcome> SendAll(HttpClient& client, const std::vector<ControlRequest>& requests,
                                    const std::vector<EngineFacts>& facts,
                                    std::chrono::milliseconds patience, std::stop_token stop = {},
                                    const std::function<void(const ControlOutcome&)>& ended = {});

// How many requests were accepted, and how far apart.
struct ControlSpread {
  size_t asked = 0, taken = 0;
  // The time between the first and the last accepted request, by when they were sent (`ns`) and by
  // when they were answered (`answered_ns`): a profiler runs once its start is answered, which may
  // take seconds. Absent for fewer than two.
  std::optional<int64_t> ns, answered_ns;
  // "2 profilers reached within 0.02 ms", "1 of 2 profilers reached".
  std::string Text(std::string_view what) const;
};
ControlSpread SpreadOf(const std::vector<ControlOutcome>& outcomes);

}  // namespace tacho
