#include "control/engine_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "control/live/answer_json.h"
#include "control/live/start_request.h"
#include "control/version.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

// Whether the answers fit `rule`, an engine's known_by. "owner NAME": `owned_by` of the first model
// is NAME. "routes PATH...": /openapi.json has all these paths. "metrics WORD...": the server
// serves no model, and its metrics contain all these words.
bool IsKnownBy(std::string_view rule, const AnswerJson& json) {
  const ProbeAnswers& answers = json.answers;
  const std::string_view how = TakeWord(rule);
  const bool serves = answers[kModels] && answers[kModels]->status == 200;
  const bool metered = answers[kMetrics] && answers[kMetrics]->status == 200;
  if (how == "owner") return json.owner == rule;
  if (how == "metrics" && (serves || !metered)) return false;
  while (!rule.empty()) {
    const std::string_view word = TakeWord(rule);
    if (how == "routes" && !JsonMember(JsonMember(json.openapi, "paths"), word).is_object())
      return false;
    if (how == "metrics" && answers[kMetrics]->body.find(word) == std::string::npos) return false;
  }
  return how == "routes" || how == "metrics";
}

}  // namespace

bool EngineType::Answers(const AnswerJson& json) const {
  const std::string_view rule = EngineRule(name_, "", "known_by");
  return !rule.empty() && IsKnownBy(rule, json);
}

void EngineType::ReadFacts(const AnswerJson& json, EngineFacts& facts) const {
  facts.version =
      JsonGet<std::string>(JsonOfAnswer(json.answers[kVersion]), "version").value_or("");
  // A server that does not describe its interface may still have the route.
  const Json& paths = JsonMember(json.openapi, "paths");
  facts.profiler.has_http = !paths.is_object() || JsonMember(paths, "/start_profile").is_object();
  facts.profiler.reads_body = EngineRule(facts.kind, facts.version, "counts_steps") == "yes";
  facts.profiler.kind = "torch";
}

NotReady EngineType::WhyNotReady(const AskRoute& ask) const {
  return Objection(ask("/health"), "/health", false);
}

Result<ControlRequest> EngineType::PlanStart(const Worker& worker, const EngineFacts& facts,
                                             const ProfileOptions& options) const {
  constexpr std::string_view kSend = "send.";
  const bool takes_folder = EngineRule(facts.kind, facts.version, "folder_in_start") == "yes";
  if (options.output_dir && !takes_folder)
    return RefuseStart(
        worker, fmt::format("{} takes no folder for traces with a start: {}", NameOf(facts.kind),
                            EngineRule(facts.kind, facts.version, "folder")));
  if (options.output_dir && !options.output_dir->starts_with('/'))
    return RefuseStart(worker,
                       "the folder for traces must be an absolute path on the engine's machine");
  TACHO_ASSIGN_OR_RETURN(Json body, StartBodyOf(worker, facts, options));
  for (const std::string& name : RuleKeys(NameOf(facts.kind), kSend)) {
    const std::string_view value =
        EngineRule(facts.kind, facts.version, fmt::format("{}{}", kSend, name));
    if (body.contains(name)) continue;
    if (value == "{key}")
      body[name] = options.key;
    else if (value == "{folder}" && options.output_dir)
      body[name] = *options.output_dir;
    else if (value == "{steps}" && options.steps)
      body[name] = *options.steps;
    else if (!value.starts_with('{'))
      body[name] = Json::parse(value);
  }
  ControlRequest request{worker.url, "/start_profile", body.dump()};
  std::string_view paths = EngineRule(facts.kind, facts.version, "start");
  request.path = TakeWord(paths);
  request.other_path = TakeWord(paths);
  return request;
}

bool EngineType::KeyNamesFiles(const EngineFacts& facts) const {
  return EngineRule(facts.kind, facts.version, "names_files") == "yes";
}

ControlRequest EngineType::PlanSleep(const std::string& url, bool sleep, int64_t level) const {
  return {url, sleep ? fmt::format("/sleep?level={}", level) : "/wake_up", ""};
}

const std::vector<const EngineType*>& EngineTypes() {
  static const EngineType kTensorRt(EngineKind::kTensorRtLlm, "tensorrt-llm"),
      kTokenSpeed(EngineKind::kTokenSpeed, "tokenspeed"),
      kDynamoVllm(EngineKind::kDynamoVllm, "dynamo-vllm"),
      kDynamoSglang(EngineKind::kDynamoSglang, "dynamo-sglang"), kSmg(EngineKind::kSmg, "smg");
  static const std::vector<const EngineType*> kTypes = {
      &VllmType(), &SglangType(), &kTensorRt, &kTokenSpeed, &kDynamoVllm, &kDynamoSglang, &kSmg};
  return kTypes;
}

const EngineType& TypeOf(EngineKind kind) {
  static const EngineType kNone(EngineKind::kUnknown, "unknown");
  const auto& types = EngineTypes();
  const auto type = std::ranges::find(types, kind, &EngineType::kind);
  return type == types.end() ? kNone : **type;
}

EngineKind KindNamed(std::string_view name) {
  const auto& types = EngineTypes();
  const auto type = std::ranges::find(types, name, &EngineType::name);
  return type == types.end() ? EngineKind::kUnknown : (*type)->kind();
}

std::vector<const EngineType*> LaunchedTypes() {
  std::vector<const EngineType*> launched;
  for (const EngineType* type : EngineTypes())
    if (type->Launch() != nullptr) launched.push_back(type);
  return launched;
}

}  // namespace tacho
