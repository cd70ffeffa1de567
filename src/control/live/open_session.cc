#include "control/live/open_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/parse_json.h"
#include "base/replace_file.h"
#include "control/live/session_lock.h"
#include "control/version.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kEnding = "session";

// Whether the engine itself refuses a second start while a session counts steps, and ends that
// session without a stop.
bool GuardsItself(const EngineFacts& facts, const OpenSession& open,
                  const ProfileOptions& options) {
  return open.steps && options.steps &&
         EngineRule(facts.kind, facts.version, "start_step") == "yes";
}

// What a second start would do, by the rule for the engine's version.
std::string_view FateOfSecondStart(const EngineFacts& facts) {
  const std::string_view rule = EngineRule(facts.kind, facts.version, "double");
  if (rule == "destroys") return "a second start would throw its window away";
  if (rule == "ignored") return "a second start would answer 200 and be ignored";
  return "a second start would be refused with HTTP 409";
}

}  // namespace

Result<void> KeepOpenSession(const std::string& worker_url, const OpenSession& session) {
  TACHO_ASSIGN_OR_RETURN(std::string path, SessionFile(worker_url, kEnding));
  Json json = {{"key", session.key},
               {"since", session.since_unix_s},
               {"instance", session.instance.Text()},
               {"command", session.command}};
  if (session.steps) json["steps"] = *session.steps;
  if (session.by_stage) json["by_stage"] = true;
  if (!session.folder.empty()) json["folder"] = session.folder;
  return ReplaceFile(path, json.dump() + '\n');
}

void ForgetOpenSession(const std::string& worker_url) {
  if (Result<std::string> path = SessionFile(worker_url, kEnding)) std::remove(path->c_str());
}

std::optional<OpenSession> FindOpenSession(const Worker& worker, const EngineFacts& facts) {
  Result<std::string> path = SessionFile(worker.url, kEnding);
  if (!path) return std::nullopt;
  std::ifstream file(*path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json json = ParseJson(text);
  if (!json.is_object()) return std::nullopt;
  OpenSession session;
  try {
    session.key = json.at("key").get<std::string>();
    session.since_unix_s = json.at("since").get<int64_t>();
    session.instance = ParseInstance(json.at("instance").get<std::string>());
    session.command = json.value("command", session.command);
    session.by_stage = json.value("by_stage", false);
    session.folder = json.value("folder", "");
    if (json.contains("steps")) session.steps = json["steps"].get<int64_t>();
  } catch (const Json::exception&) {
    return std::nullopt;  // no tacho that we know wrote this file
  }
  if (session.instance.IsAnother(facts.instance)) return std::nullopt;
  return session;
}

std::string StartedText(const OpenSession& open) {
  return fmt::format("its profiler was started by {} at {} (session {}) and not stopped since",
                     open.command, SinceText(open.since_unix_s), open.key);
}

Finding OpenSessionOn(const std::string& url, const OpenSession& open, const EngineFacts& facts) {
  return {FindingId::kOpenSession, url,
          fmt::format("{}; {}", StartedText(open), FateOfSecondStart(facts)),
          fmt::format("tacho engine stop {} ends it", url)};
}

std::optional<Finding> FindSessionInTheWay(const Worker& worker, const EngineFacts& facts,
                                           const ProfileOptions& options, bool stops_first) {
  const std::optional<OpenSession> open = FindOpenSession(worker, facts);
  if (!open || GuardsItself(facts, *open, options)) return std::nullopt;
  if (stops_first && open->command == kByRecord) return std::nullopt;
  return OpenSessionOn(worker.url, *open, facts);
}

}  // namespace tacho
