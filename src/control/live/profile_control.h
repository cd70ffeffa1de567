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
  // Names the session: sent as profile_prefix and profile_id to engines that read them.
  std::string key;
  std::optional<int64_t> steps;  // engine steps; absent: until the stop
  // By default SGLang begins a session of exactly `steps` steps with its next batch, and waits for
  // that batch even after a stop. If `at_once` is set, the session begins immediately; in old
  // versions it may then record one step too many or too few.
  bool at_once = false;
  std::optional<std::string> output_dir;  // SGLang: a folder on the engine's machine
  // More fields of the start request, under the engine's own names, with values as the user wrote
  // them: {"with_stack", "true"}, {"activities", "CPU+GPU"}.
  std::map<std::string, std::string> fields;

  bool IsOn(const std::string& flag) const;
  // Sets the key to `name`, or to "PREFIX-NAME" if the field profile_prefix is set: file names
  // begin with the key.
  void NameSession(const std::string& name);
};

// A field of a start request with its value as JSON.
struct StartField {
  std::string name, json;
};
// The fields of `options` in the form that this version of `engine` ("vllm", "sglang", or "daemon"
// for Kineto's protocol) accepts. kUsage: a field is not accepted; the message has the reason and
// the remedy.
Result<std::vector<StartField>> CheckFields(std::string_view engine, std::string_view version,
                                            const ProfileOptions& options);

// One request as it will be sent; it can be shown, kept and repeated.
struct ControlRequest {
  std::string url;   // of the worker
  std::string path;  // "/start_profile"
  std::string body;  // JSON, or ""
  // Of a stop request: the body of a second request, which cancels a session that has not begun. ""
  // if the engine has no such request.
  std::string take_back_body = {};
  // Of a start request: the body of a guard request, which is posted first, to the same path. The
  // engine refuses it while a session runs. Otherwise it records nothing, but replaces a session
  // that has not begun. "" if a start cannot harm another session, or the engine has no such check.
  std::string guard_body = {};
  // The route's path in other versions, used if `path` does not exist; "" if the route never moved.
  std::string other_path = {};
  std::string AsCurl() const;  // guard and request, one line each
};

// Plans the start request for one engine, by the rules of its version (control/rules/*.rules).
// kUsage: the engine cannot do what is asked, or the session would crash or flood the engine; the
// message has the reason and the remedy. Examples: no profiler configured, stacks without a bound
// on steps, an output_dir that SGLang cannot make, a prefix with '/', by_stage without steps.
Result<ControlRequest> PlanStart(const Worker& worker, const EngineFacts& facts,
                                 const ProfileOptions& options);
// Whether the engine's file names contain the session's key.
bool KeyNamesFiles(const EngineFacts& facts);
// Plans the stop request for one engine. `counted`: the session counts its steps, but not by stage.
// If SGLang has not yet run a step of such a session, it answers the stop as if no session ran, and
// begins the session with the next request. So the stop carries a take_back_body: the body of a
// start request for a session that never begins, which replaces the waiting session.
ControlRequest PlanStop(const Worker& worker, const EngineFacts& facts, bool counted);

enum class ControlVerdict {
  kDone,      // the engine confirmed the request
  kWasSo,     // there was no profiler to stop
  kRefused,   // the engine refused (409, 400, 404, 500)
  kNoAnswer,  // no connection, timeout, or a lost connection
};
struct ControlOutcome {
  std::string url;
  ControlVerdict verdict = ControlVerdict::kNoAnswer;
  int status = 0;           // HTTP status; 0 without an answer
  std::string said;         // the engine's message, or ours; with the remedy if one is known
  uint32_t place_size = 0;  // the first bytes of `said`, if they name the URL, as in Error
  int64_t sent_ns = 0;      // CLOCK_MONOTONIC
  int64_t answered_ns = 0;
  bool taken = false;  // a start was refused because another session seems to run

  // `said` without the URL.
  std::string_view Words() const { return std::string_view(said).substr(place_size); }
  bool IsGood() const {
    return verdict == ControlVerdict::kDone || verdict == ControlVerdict::kWasSo;
  }
  // Of a stop: whether its answer shows that no session runs. A refusal does not show it: a proxy
  // may have refused, or some ranks may still run. A 404 shows it: without a profile route no
  // session can run.
  bool TellsThatNothingRuns() const { return IsGood() || status == 404; }
};

// Asks the engines whether a session runs in them, by sending only the guards in `starts`. A start
// without a guard counts as accepted. Call it only while the load runs: if a session of an SGLang
// still waits for its first step, SGLang does not report that session but discards it, as with any
// start. Results in the order of `starts`.
std::vector<ControlOutcome> AskWhetherTaken(HttpClient& client,
                                            const std::vector<ControlRequest>& starts,
                                            const std::vector<EngineFacts>& facts,
                                            std::chrono::milliseconds patience,
                                            std::stop_token stop);

// Sends all requests at the same time, after the guards of all. A start whose guard is refused is
// not sent. Waits for all answers, without a limit if `patience` is 0. Calls `ended` for each
// answer. Results in the order of `requests`. Does not repeat a request that got no answer: the
// start may have begun a session.
std::vector<ControlOutcome> SendAll(HttpClient& client, const std::vector<ControlRequest>& requests,
                                    const std::vector<EngineFacts>& facts,
                                    std::chrono::milliseconds patience, std::stop_token stop = {},
                                    const std::function<void(const ControlOutcome&)>& ended = {});

// How many requests were accepted, and how far apart in time.
struct ControlSpread {
  size_t asked = 0, taken = 0;
  // The time between the first and the last accepted request: `ns` by when they were sent,
  // `answered_ns` by when they were answered. A profiler runs once its start is answered, which may
  // take seconds. Absent if fewer than two were accepted.
  std::optional<int64_t> ns, answered_ns;
  // "2 profilers reached within 0.02 ms", "1 of 2 profilers reached".
  std::string Text(std::string_view what) const;
};
ControlSpread SpreadOf(const std::vector<ControlOutcome>& outcomes);

}  // namespace tacho
