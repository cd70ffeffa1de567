#include "control/profile_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "control/version.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

tl::unexpected<Error> Refuse(const Worker& worker, std::string_view why) {
  return Fail(ErrorKind::kUsage, fmt::format("{}: {}", worker.url, why));
}

// vLLM's rule for a prefix; '/' in SGLang's would end the whole server at the export.
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

constexpr std::string_view kStacksUnbounded =
    "Python stacks without a bound on steps: an idle worker writes 1.6 million events a second, "
    "and "
    "8 s of them took 15 GB of its memory and then its life; give --steps, or start the server "
    "with "
    "torch_profiler_with_stack false";

Result<ControlRequest> PlanVllm(const Worker& worker, const EngineFacts& facts,
                                const ProfileOptions& options) {
  if (!facts.profiler.has_http)
    return Refuse(worker, fmt::format("its profiler is not configured: {}",
                                      EngineRule(facts.kind, facts.version, "enable")));
  if (facts.asleep.value_or(false))
    return Refuse(worker, "it sleeps: an asleep engine takes no step; wake it: tacho engine wake");
  bool bounded = (facts.profiler.reads_body && options.steps) ||
                 facts.profiler.max_iterations.value_or(0) > 0 ||
                 facts.profiler.active_iterations.value_or(0) *
                         (facts.profiler.wait_iterations.value_or(0) +
                          facts.profiler.warmup_iterations.value_or(0)) >
                     0;
  if (facts.profiler.with_stack.value_or(false) && !bounded)
    return Refuse(worker, kStacksUnbounded);
  if (options.with_stack || options.record_shapes || options.by_stage || options.output_dir)
    return Refuse(worker,
                  "vLLM takes stacks, shapes, stages and the folder from --profiler-config at its "
                  "start, not from the request");
  ControlRequest request{worker.url, "/start_profile", ""};
  if (!facts.profiler.reads_body) return request;
  Json body = Json::object();
  body["profile_prefix"] = options.key;
  if (options.steps) body["max_iterations"] = *options.steps;
  request.body = body.dump();
  return request;
}

Result<ControlRequest> PlanSglang(const Worker& worker, const EngineFacts& facts,
                                  const ProfileOptions& options) {
  auto has = [&](std::string_view key) {
    return EngineRule(facts.kind, facts.version, key) == "yes";
  };
  if (options.by_stage && !options.steps)
    return Refuse(worker, "stages without a number of steps end an SGLang server: give --steps");
  if (options.with_stack.value_or(false) && !options.steps) return Refuse(worker, kStacksUnbounded);
  for (const std::string& activity : options.activities)
    if (activity != "CPU" && activity != "GPU" && activity != "XPU")
      return Refuse(worker, fmt::format("activity {}: only CPU, GPU and XPU are safe to ask for; "
                                        "others can end the server",
                                        activity));
  if (options.output_dir && !options.output_dir->starts_with('/'))
    return Refuse(worker, "the folder for traces must be an absolute path on the engine's machine");

  Json body = Json::object();
  if (options.output_dir) body["output_dir"] = *options.output_dir;
  if (!options.activities.empty()) body["activities"] = options.activities;
  // Both are on when they are not named.
  body["with_stack"] = options.with_stack.value_or(false);
  body["record_shapes"] = options.record_shapes.value_or(false);
  if (options.steps) {
    body["num_steps"] = *options.steps;
    if (options.by_stage)
      body["profile_by_stage"] = true;
    else if (has("start_step"))
      // Exactly N steps in all versions, and a start while another session runs fails instead of
      // throwing that session's window away.
      body["start_step"] = 1;
  }
  if (has("prefix")) body["profile_prefix"] = options.key;
  // The same id again would overwrite: the key is the session's own.
  if (facts.profiler.reads_profile_id) body["profile_id"] = options.key;
  return ControlRequest{worker.url, "/start_profile", body.dump()};
}

// The engine's own words from an error body of either dialect.
std::string Words(const HttpResponse& answer) {
  Json json = Json::parse(answer.body, nullptr, false);
  if (json.is_object()) {
    const Json& inner = json.contains("error") && json["error"].is_object() ? json["error"] : json;
    for (const char* key : {"message", "detail"})
      if (inner.contains(key) && inner[key].is_string()) return inner[key].get<std::string>();
  }
  std::string text = answer.body.substr(0, 200);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

void Judge(const ControlRequest& request, const EngineFacts& facts, const HttpResponse& answer,
           ControlOutcome& outcome) {
  bool stop = request.path == "/stop_profile";
  outcome.status = answer.status;
  outcome.said = Words(answer);
  if (answer.status == 200) {
    outcome.verdict = ControlVerdict::kDone;
    return;
  }
  outcome.verdict = ControlVerdict::kRefused;
  if (facts.kind == EngineKind::kSglang && answer.status == 500) {
    // SGLang tells its reason in its log only.
    if (stop) {
      outcome.verdict = ControlVerdict::kWasSo;
      outcome.said = "no profile was running on its first rank";
    } else {
      outcome.said = "a profile is already running, or the request was refused (its log tells)";
    }
  } else if (answer.status == 404 && facts.kind == EngineKind::kVllm) {
    outcome.said = fmt::format("its profiler is not configured: {}",
                               EngineRule(facts.kind, facts.version, "enable"));
  } else if (answer.status == 409) {
    outcome.said += " (tacho engine stop URL does)";
  }
}

}  // namespace

std::string ControlRequest::AsCurl() const {
  std::string line = fmt::format("curl -X POST {}{}", url, path);
  if (!body.empty()) line += fmt::format(" -H 'Content-Type: application/json' -d '{}'", body);
  return line;
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
  return facts.kind == EngineKind::kSglang ? PlanSglang(worker, facts, options)
                                           : PlanVllm(worker, facts, options);
}

ControlRequest PlanStop(const Worker& worker, const EngineFacts&) {
  return ControlRequest{worker.url, "/stop_profile", ""};
}

std::vector<ControlOutcome> SendAll(HttpClient& client, const std::vector<ControlRequest>& requests,
                                    const std::vector<EngineFacts>& facts,
                                    std::chrono::milliseconds patience, std::stop_token stop,
                                    const std::function<void(const ControlOutcome&)>& ended) {
  std::vector<HttpRequest> wire;
  for (const ControlRequest& request : requests) {
    HttpRequest http;
    http.method = "POST";
    http.url = request.url + request.path;
    http.body = request.body;
    if (!request.body.empty()) http.headers.push_back({"Content-Type", "application/json"});
    http.timeout = patience;
    wire.push_back(std::move(http));
  }
  std::vector<ControlOutcome> outcomes(requests.size());
  auto settle = [&](size_t i, const Result<HttpResponse>& answer) {
    ControlOutcome& outcome = outcomes[i];
    outcome.url = requests[i].url;
    if (answer) {
      outcome.sent_ns = answer->times.sent_ns;
      outcome.answered_ns = answer->times.ended_ns;
      Judge(requests[i], facts[i], *answer, outcome);
    } else {
      outcome.said = answer.error().message;
    }
  };
  std::vector<Result<HttpResponse>> answers =
      client.FetchAll(wire, stop, [&](size_t i, const Result<HttpResponse>& answer) {
        settle(i, answer);
        if (ended) ended(outcomes[i]);
      });
  for (size_t i = 0; i < answers.size(); ++i) settle(i, answers[i]);
  return outcomes;
}

int64_t StartSpreadNs(const std::vector<ControlOutcome>& outcomes) {
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  for (const ControlOutcome& outcome : outcomes) {
    if (outcome.sent_ns == 0) continue;
    first = std::min(first, outcome.sent_ns);
    last = std::max(last, outcome.sent_ns);
  }
  return last == 0 ? 0 : last - first;
}

}  // namespace tacho
