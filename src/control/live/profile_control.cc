#include "control/live/profile_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/parse_number.h"
#include "base/words.h"
#include "control/engine_type.h"
#include "control/launch/profile_needs.h"
#include "control/live/profile_answers.h"
#include "control/live/start_request.h"
#include "control/version.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostAnswer = 1u << 20;  // an answer is a few words, or an error page of a proxy

// The names that vLLM allows as a prefix. In SGLang, a '/' in it would end the whole server when
// the trace is exported.
bool IsPlainName(const std::string& name) {
  auto plain = [](char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (!first && (c == '.' || c == '_' || c == '-'));
  };
  if (name.empty() || name.size() > 128) return false;
  for (size_t i = 0; i < name.size(); ++i)
    if (!plain(name[i], i == 0)) return false;
  return true;
}

// The value of a field as JSON, in the form that its rule demands; nullopt if it does not fit.
std::optional<Json> ValueOf(std::string_view form, const std::string& text) {
  if (form.starts_with("flag")) {
    if (text != "true" && text != "false") return std::nullopt;
    return Json(text == "true");
  }
  if (form == "count") {
    const auto count = ParseWhole<int64_t>(text);
    return count && *count >= 0 ? std::optional<Json>(*count) : std::nullopt;
  }
  if (form == "name") return IsPlainName(text) ? std::optional<Json>(text) : std::nullopt;
  // The form "words A B C" accepts some of these words, joined by '+'.
  Json words = Json::array();
  std::istringstream given(text);
  for (std::string word; std::getline(given, word, '+');) {
    if (fmt::format("{} ", form).find(fmt::format(" {} ", word)) == std::string::npos)
      return std::nullopt;
    words.push_back(word);
  }
  return words.empty() ? std::nullopt : std::optional<Json>(words);
}

std::string HowWritten(std::string_view form) {
  if (form.starts_with("flag")) return "true or false";
  if (form == "count") return "a whole number";
  if (form == "name") return "letters, digits, '.', '_' and '-', the first a letter or digit";
  return fmt::format("one or more of{}, with '+' in between", form.substr(form.find(' ')));
}

// Takes the route's path in this version and in other versions from the rule `key`.
void TakePaths(const EngineFacts& facts, std::string_view key, ControlRequest& request) {
  std::string_view paths = EngineRule(facts.kind, facts.version, key);
  if (paths.empty()) return;
  request.path = TakeWord(paths);
  request.other_path = TakeWord(paths);
}

}  // namespace

std::string BodyThatNeverBegins() { return Json{{"start_step", int64_t{1} << 62}}.dump(); }

tl::unexpected<Error> RefuseStart(const Worker& worker, std::string_view why) {
  return FailAt(ErrorKind::kUsage, worker.url, std::string(why));
}

Result<Json> StartBodyOf(const Worker& worker, const EngineFacts& facts,
                         const ProfileOptions& options) {
  TACHO_ASSIGN_OR_RETURN(
      std::vector<StartField> fields,
      WithContext(CheckFields(NameOf(facts.kind), facts.version, options), worker.url));
  Json body = Json::object();
  for (const StartField& field : fields) {
    const std::string_view place =
        EngineRule(facts.kind, facts.version, fmt::format("body.{}", field.name));
    Json& value = place.empty() ? body[field.name] : body[Json::json_pointer(std::string(place))];
    value = Json::parse(field.json);
  }
  return body;
}

std::string ControlRequest::AsCurl() const {
  const auto line = [&](const std::string& with) {
    return fmt::format(
        "curl -X POST {}{}", ShellWord(url + path),
        with.empty() ? "" : " -H 'Content-Type: application/json' -d " + ShellWord(with));
  };
  return guard_body.empty() ? line(body) : line(guard_body) + "\n" + line(body);
}

bool ProfileOptions::IsOn(const std::string& flag) const {
  auto field = fields.find(flag);
  return field != fields.end() && field->second == "true";
}

void ProfileOptions::NameSession(const std::string& name) {
  auto prefix = fields.find("profile_prefix");
  key = prefix == fields.end() ? name : prefix->second + "-" + name;
}

Result<std::vector<StartField>> CheckFields(std::string_view engine, std::string_view version,
                                            const ProfileOptions& options) {
  constexpr std::string_view kFields = "field.";
  std::vector<StartField> checked;
  for (const auto& [name, text] : options.fields) {
    std::string_view form = EngineRule(engine, version, fmt::format("{}{}", kFields, name));
    if (form.starts_with("no "))
      return Fail(ErrorKind::kUsage, fmt::format("{}: {}", name, form.substr(3)));
    if (form.empty()) {
      std::vector<std::string> known = RuleKeys(engine, kFields);
      std::erase_if(known, [&](const std::string& key) {
        return EngineRule(engine, version, std::string(kFields) + key).starts_with("no ");
      });
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: not known to {}; it takes {}", name,
                              engine == "daemon" ? "Kineto's daemon protocol" : engine,
                              fmt::join(known, ", ")));
    }
    if (form == "flag-with-steps" && text == "true" && !options.steps)
      return Fail(ErrorKind::kUsage, fmt::format("{}: needs --steps N", name));
    std::optional<Json> value = ValueOf(form, text);
    if (!value)
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}={}: it needs {}", name, text, HowWritten(form)));
    checked.push_back({name, value->dump()});
  }
  return checked;
}

Result<ControlRequest> PlanStart(const Worker& worker, const EngineFacts& facts,
                                 const ProfileOptions& options) {
  if (!IsPlainName(options.key))
    return Fail(ErrorKind::kUsage,
                fmt::format("\"{}\" cannot name a session: letters, digits, '.', '_' and '-', at "
                            "most 128, the first a letter or digit",
                            options.key));
  if (options.steps && *options.steps < 1)
    return Fail(ErrorKind::kUsage, "a session needs at least one step");
  if (const auto obstacle = FindObstacle(worker, facts, options))
    return tl::unexpected(ErrorOf(*obstacle));
  return TypeOf(facts.kind).PlanStart(worker, facts, options);
}

bool KeyNamesFiles(const EngineFacts& facts) { return TypeOf(facts.kind).KeyNamesFiles(facts); }

ControlRequest PlanStop(const Worker& worker, const EngineFacts& facts, bool counted) {
  ControlRequest request{worker.url, "/stop_profile", ""};
  TakePaths(facts, "stop", request);
  if (counted && EngineRule(facts.kind, facts.version, "start_step") == "yes")
    request.take_back_body = BodyThatNeverBegins();
  return request;
}

namespace {

HttpRequest OnTheWire(const std::string& url, const std::string& body,
                      std::chrono::milliseconds patience) {
  HttpRequest http;
  http.method = "POST";
  http.url = url;
  http.body = body;
  if (!body.empty()) http.headers.push_back({"Content-Type", "application/json"});
  http.timeout = patience;
  http.most_body = kMostAnswer;
  return http;
}

ControlOutcome OutcomeOf(const ControlRequest& request, const EngineFacts& facts,
                         const Result<HttpResponse>& answer) {
  ControlOutcome outcome;
  outcome.url = request.url;
  if (!answer) {
    outcome.said = answer.error().message;
    outcome.place_size = answer.error().place_size;
    return outcome;
  }
  outcome.sent_ns = answer->times.sent_ns;
  outcome.answered_ns = answer->times.ended_ns;
  JudgeAnswer(request, facts, *answer, outcome);
  return outcome;
}

// Withdraws sessions whose stop found that no session was running: they may not have begun yet.
void TakeBack(HttpClient& client, const std::vector<ControlRequest>& requests,
              std::chrono::milliseconds patience, std::stop_token stop,
              std::vector<ControlOutcome>& outcomes) {
  std::vector<HttpRequest> wire;
  std::vector<size_t> which;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].take_back_body.empty() || outcomes[i].verdict != ControlVerdict::kWasSo)
      continue;
    wire.push_back(
        OnTheWire(requests[i].url + "/start_profile", requests[i].take_back_body, patience));
    which.push_back(i);
  }
  if (wire.empty()) return;
  const std::vector<Result<HttpResponse>> answers = client.FetchAll(wire, stop);
  for (size_t i = 0; i < answers.size(); ++i) {
    ControlOutcome& outcome = outcomes[which[i]];
    const Result<HttpResponse>& answer = answers[i];
    if (answer && answer->status == 200) {
      outcome.said =
          "no profile was running: its steps were over, or had not begun and are taken back";
      continue;
    }
    outcome.verdict = answer ? ControlVerdict::kRefused : ControlVerdict::kNoAnswer;
    if (answer) outcome.status = answer->status;
    outcome.said =
        fmt::format("a session that had not begun could not be taken back: {}",
                    answer ? "it begins just now: stop it again" : answer.error().message);
  }
}

}  // namespace

std::vector<ControlOutcome> AskWhetherTaken(HttpClient& client,
                                            const std::vector<ControlRequest>& starts,
                                            const std::vector<EngineFacts>& facts,
                                            std::chrono::milliseconds patience,
                                            std::stop_token stop) {
  std::vector<HttpRequest> wire;
  std::vector<size_t> which;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (starts[i].guard_body.empty()) continue;
    wire.push_back(OnTheWire(starts[i].url + starts[i].path, starts[i].guard_body, patience));
    which.push_back(i);
  }
  std::vector<ControlOutcome> outcomes(starts.size());
  for (ControlOutcome& outcome : outcomes) outcome.verdict = ControlVerdict::kDone;
  const std::vector<Result<HttpResponse>> answers = client.FetchAll(wire, std::move(stop));
  for (size_t n = 0; n < which.size(); ++n)
    outcomes[which[n]] = OutcomeOf(starts[which[n]], facts[which[n]], answers[n]);
  return outcomes;
}

std::vector<ControlOutcome> SendAll(HttpClient& client, const std::vector<ControlRequest>& requests,
                                    const std::vector<EngineFacts>& facts,
                                    std::chrono::milliseconds patience, std::stop_token stop,
                                    const std::function<void(const ControlOutcome&)>& ended) {
  std::vector<ControlOutcome> outcomes = AskWhetherTaken(client, requests, facts, patience, stop);
  // Sends the requests `which` to one of their two paths. Returns those whose route does not exist
  // there but may exist at the other path.
  const auto send = [&](const std::vector<size_t>& which, std::string ControlRequest::*path) {
    std::vector<HttpRequest> wire;
    for (size_t i : which)
      wire.push_back(OnTheWire(requests[i].url + requests[i].*path, requests[i].body, patience));
    const auto has_moved = [&](size_t i, const Result<HttpResponse>& answer) {
      return path == &ControlRequest::path && !requests[i].other_path.empty() && answer &&
             answer->status == 404;
    };
    const std::vector<Result<HttpResponse>> answers =
        client.FetchAll(wire, stop, [&](size_t n, const Result<HttpResponse>& answer) {
          const size_t i = which[n];
          if (ended && !has_moved(i, answer)) ended(OutcomeOf(requests[i], facts[i], answer));
        });
    std::vector<size_t> moved;
    for (size_t n = 0; n < which.size(); ++n) {
      const size_t i = which[n];
      if (has_moved(i, answers[n]))
        moved.push_back(i);
      else
        outcomes[i] = OutcomeOf(requests[i], facts[i], answers[n]);
    }
    return moved;
  };
  std::vector<size_t> which;
  for (size_t i = 0; i < requests.size(); ++i)
    if (outcomes[i].IsGood()) which.push_back(i);
  send(send(which, &ControlRequest::path), &ControlRequest::other_path);
  TakeBack(client, requests, patience, std::move(stop), outcomes);
  return outcomes;
}

ControlSpread SpreadOf(const std::vector<ControlOutcome>& outcomes) {
  ControlSpread spread{.asked = outcomes.size(), .taken = 0, .ns = {}, .answered_ns = {}};
  std::vector<int64_t> sent, answered;
  for (const ControlOutcome& outcome : outcomes) {
    if (!outcome.IsGood()) continue;
    ++spread.taken;
    sent.push_back(outcome.sent_ns);
    answered.push_back(outcome.answered_ns);
  }
  if (spread.taken < 2) return spread;
  const auto between = [](const std::vector<int64_t>& times) {
    const auto [first, last] = std::ranges::minmax_element(times);
    return *last - *first;
  };
  spread.ns = between(sent);
  spread.answered_ns = between(answered);
  return spread;
}

std::string ControlSpread::Text(std::string_view what) const {
  return fmt::format("{}{} {}{} reached{}", taken,
                     taken == asked ? "" : fmt::format(" of {}", asked), what,
                     asked == 1 ? "" : "s",
                     ns ? fmt::format(" within {:.2f} ms", static_cast<double>(*ns) / 1e6) : "");
}

}  // namespace tacho
