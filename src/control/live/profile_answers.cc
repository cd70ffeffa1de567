#include "control/live/profile_answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/parse_json.h"
#include "control/engine_type.h"
#include "control/launch/profile_needs.h"
#include "control/version.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

// The engine's message in an error body, in vLLM's or SGLang's form.
std::string Words(const HttpResponse& answer) {
  Json json = ParseJson(answer.body);
  if (json.is_object()) {
    const Json& inner = json.contains("error") && json["error"].is_object() ? json["error"] : json;
    for (const char* key : {"message", "detail"})
      if (inner.contains(key) && inner[key].is_string()) return inner[key].get<std::string>();
  }
  std::string text = answer.body.substr(0, 200);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

// The failure that a body reports, whatever the HTTP status: {"status":"error","message":...},
// {"success":false,"message":...}, or {"failed":[[worker, message], ...]}. nullopt if it reports
// none.
std::optional<std::string> FailureIn(const HttpResponse& answer) {
  const Json json = ParseJson(answer.body);
  if (!json.is_object()) return std::nullopt;
  const auto is = [&](const char* key, const Json& value) {
    return json.contains(key) && json[key] == value;
  };
  if (is("status", "error") || is("success", false)) return Words(answer);
  if (!json.contains("failed") || !json["failed"].is_array() || json["failed"].empty())
    return std::nullopt;
  const Json& first = json["failed"][0];
  const Json& message = first.is_array() && !first.empty() ? first.back() : first;
  return message.is_string() ? message.get<std::string>() : Words(answer);
}

// Judges an engine's answer by its rules, which list the words that mean that a session runs, or
// that none runs.
void JudgeByRules(const EngineFacts& facts, const HttpResponse& answer, bool stop,
                  ControlOutcome& outcome) {
  const auto failure = FailureIn(answer);
  if (failure) outcome.said = *failure;
  if (answer.status < 300 && !failure) {
    outcome.verdict = ControlVerdict::kDone;
    return;
  }
  const auto says = [&](std::string_view key) {
    const std::string_view words = EngineRule(facts.kind, facts.version, key);
    return !words.empty() && outcome.said.find(words) != std::string::npos;
  };
  if (stop && says("says.idle")) {
    outcome.verdict = ControlVerdict::kWasSo;
  } else if (!stop && (answer.status == 409 || says("says.busy"))) {
    outcome.taken = true;
    outcome.said += fmt::format(" (tacho engine stop {} does)", outcome.url);
  } else if (answer.status == 404) {
    outcome.said = ProfilerOff(outcome.url, facts).Words();
  }
}

}  // namespace

void JudgeAnswer(const ControlRequest& request, const EngineFacts& facts,
                 const HttpResponse& answer, ControlOutcome& outcome) {
  const bool stop = request.path.ends_with("stop_profile");
  const bool by_rules = !EngineRule(facts.kind, facts.version, "start").empty();
  outcome.status = answer.status;
  outcome.said = Words(answer);
  if (answer.status == 200 && !by_rules) {
    outcome.verdict = ControlVerdict::kDone;
    return;
  }
  outcome.verdict = ControlVerdict::kRefused;
  if (std::string remedy = KeyRemedy(answer); !remedy.empty()) {
    outcome.said = std::move(remedy);
  } else if (by_rules) {
    JudgeByRules(facts, answer, stop, outcome);
  } else if (TypeOf(facts.kind).JudgeFailure(request, facts, answer.status, stop, outcome)) {
    return;
  } else if (answer.status == 409) {
    outcome.taken = !stop;
    outcome.said += " (tacho engine stop URL does)";
  }
}

}  // namespace tacho
