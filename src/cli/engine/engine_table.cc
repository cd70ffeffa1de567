#include "cli/engine/engine_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "control/live/local_engine.h"
#include "control/live/session_lock.h"
#include "control/version.h"
#include "text/format_number.h"
#include "text/json_writer.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

std::string_view NameOf(WorkerRole role) {
  switch (role) {
    case WorkerRole::kPrefill:
      return "prefill";
    case WorkerRole::kDecode:
      return "decode";
    case WorkerRole::kRegular:
      break;
  }
  return "regular";
}

std::string_view NameOf(RouterKind kind) {
  switch (kind) {
    case RouterKind::kVllmRouter:
      return "vllm-router";
    case RouterKind::kSglangRouter:
      return "sglang-router";
    case RouterKind::kSmg:
      return "smg";
    case RouterKind::kOther:
      return "other";
    case RouterKind::kNone:
      break;
  }
  return "none";
}

std::string_view NameOf(ControlVerdict verdict) {
  switch (verdict) {
    case ControlVerdict::kDone:
      return "done";
    case ControlVerdict::kWasSo:
      return "was not running";
    case ControlVerdict::kRefused:
      return "refused";
    case ControlVerdict::kNoAnswer:
      break;
  }
  return "no answer";
}

// The sizes of an engine's parallel groups, "tp2 dp2", without sizes that are 1 or not reported.
std::string Parallelism(const EngineFacts& facts) {
  std::string text;
  auto add = [&](std::string_view name, std::optional<int> size) {
    if (size.value_or(1) > 1) text += fmt::format("{}{}{}", text.empty() ? "" : " ", name, *size);
  };
  add("tp", facts.tensor_parallel);
  add("pp", facts.pipeline_parallel);
  add("dp", facts.data_parallel);
  if (text.empty()) return facts.tensor_parallel ? "1" : "unknown";
  return text;
}

struct WorkerState {
  std::string text;    // "decode, asleep, profiles since 12:03:01"
  bool ready = false;  // can be profiled now
};

WorkerState StateOf(const ProbedWorker& probed) {
  std::vector<std::string> states;
  if (probed.worker.role != WorkerRole::kRegular) states.emplace_back(NameOf(probed.worker.role));
  const size_t before = states.size();
  if (!probed.dead.empty())
    states.push_back("unhealthy: " + probed.dead);
  else if (!probed.worker.healthy_by_router)
    states.emplace_back("unhealthy, says the router");
  if (probed.facts->asleep.value_or(false)) states.emplace_back("asleep");
  if (probed.owner)
    states.emplace_back(probed.owner->starts_with(kByHold) ? "held" : "being profiled");
  else if (probed.open)
    states.push_back("profiles since " + SinceText(probed.open->since_unix_s));
  const bool ready = states.size() == before;
  if (ready) states.emplace_back("ready");
  return {fmt::format("{}", fmt::join(states, ", ")), ready};
}

}  // namespace

std::string ProfilerText(const EngineFacts& facts) {
  if (!facts.profiler.has_http) return facts.profiler.has_daemon ? "daemon" : "off";
  return facts.profiler.has_daemon ? "daemon, http" : "http";
}

std::vector<std::string> GroupedTexts(
    const std::vector<std::pair<std::string, std::string>>& said) {
  std::vector<std::string> texts;
  for (auto one = said.begin(); one != said.end(); ++one) {
    const auto same = [&](const auto& other) { return other.second == one->second; };
    if (std::find_if(said.begin(), one, same) != one) continue;
    const auto others = std::count_if(one + 1, said.end(), same);
    texts.push_back(fmt::format(
        "{}{}: {}", one->first,
        others == 0 ? "" : " and " + FormatCounted(static_cast<size_t>(others), "other"),
        one->second));
  }
  return texts;
}

std::vector<std::string> GroupedTexts(const std::vector<Finding>& findings) {
  std::vector<std::pair<std::string, std::string>> said;
  for (const Finding& finding : findings) said.emplace_back(finding.subject, finding.Words());
  return GroupedTexts(said);
}

Table WorkersTable(const std::vector<ProbedWorker>& workers) {
  Table table{.name = "workers",
              .columns = {{.key = "url", .name = "worker"},
                          TableColumn{.key = "engine", .name = "engine"}.GivesWay(),
                          TableColumn{.key = "model", .name = "model"}.Stretches().GivesWay(),
                          TableColumn{.key = "ranks", .name = "ranks"}.GivesWay(),
                          {.key = "profiler", .name = "profiler"},
                          {.key = "state", .name = "state"}},
              .rows = {}};
  for (const ProbedWorker& probed : workers) {
    if (!probed.facts) {
      table.Add({probed.worker.url, "?", std::monostate{}, std::monostate{}, std::monostate{},
                 "unknown: see below"},
                Paint::kRed);
      continue;
    }
    const EngineFacts& facts = *probed.facts;
    const WorkerState state = StateOf(probed);
    const bool usable = !probed.CannotProfile() && state.ready;
    table.Add({probed.worker.url,
               fmt::format("{} {}", NameOf(facts.kind),
                           facts.version.empty() ? "?" : VisibleText(facts.version)),
               VisibleText(facts.model), Parallelism(facts), ProfilerText(facts), state.text},
              !probed.dead.empty() ? Paint::kRed
              : usable             ? Paint::kPlain
                                   : Paint::kYellow);
  }
  return table;
}

std::string OutcomesText(const std::vector<ControlOutcome>& outcomes, const TextStyle& style) {
  Table table{.name = "outcomes",
              .columns = {{.key = "url", .name = "worker"},
                          {.key = "verdict", .name = "result"},
                          {.key = "status", .name = "HTTP", .unit = Unit::kCount},
                          {.key = "took_ns", .name = "took", .unit = Unit::kDuration},
                          {.key = "said", .name = "said"}},
              .rows = {}};
  for (const ControlOutcome& outcome : outcomes) {
    bool bad =
        outcome.verdict == ControlVerdict::kRefused || outcome.verdict == ControlVerdict::kNoAnswer;
    Cell status, took;
    if (outcome.status != 0) status = int64_t{outcome.status};
    if (outcome.answered_ns != 0) took = outcome.answered_ns - outcome.sent_ns;
    table.Add({outcome.url, std::string(NameOf(outcome.verdict)), status, took,
               VisibleText(outcome.said)},
              bad ? Paint::kRed : Paint::kPlain);
  }
  TextStyle whole = style;
  whole.whole_names = true;
  std::vector<TextLine> lines = RenderLines(table, whole);
  const bool fits = std::all_of(lines.begin(), lines.end(),
                                [&](const TextLine& line) { return line.width <= style.width; });
  if (!fits) {
    table.columns.back().on_screen = false;
    lines = RenderLines(table, whole);
  }
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    text += lines[i].text + "\n";
    if (fits || i == 0 || outcomes[i - 1].said.empty()) continue;
    text += "    " + VisibleText(outcomes[i - 1].said) + "\n";
  }
  return text;
}

std::string DeploymentJson(const Deployment& deployment, const std::vector<ProbedWorker>& workers) {
  JsonWriter json;
  json.BeginObject();
  json.Fields("schema", 1, "router", UnlessEmpty(deployment.router_url));
  if (!deployment.router_url.empty()) json.Field("router_kind", NameOf(deployment.router_kind));
  json.Rows("workers", workers, [&](const ProbedWorker& probed) {
    json.Fields("url", probed.worker.url, "role", NameOf(probed.worker.role), "healthy_by_router",
                probed.worker.healthy_by_router);
    if (!probed.facts) return json.Field("error", probed.facts.error().message);
    const EngineFacts& facts = *probed.facts;
    json.Fields("engine", NameOf(facts.kind), "engine_version", UnlessEmpty(facts.version), "model",
                UnlessEmpty(facts.model), "max_model_len", facts.max_model_len, "tensor_parallel",
                facts.tensor_parallel, "pipeline_parallel", facts.pipeline_parallel,
                "data_parallel", facts.data_parallel, "asleep", facts.asleep, "unhealthy",
                UnlessEmpty(probed.dead), "profiled_by", probed.owner, "has_metrics",
                facts.has_metrics, "clock_offset_ns", facts.clock_offset_ns, "clock_error_ns",
                facts.clock_error_ns, "round_trip_ns", facts.round_trip_ns);
    json.Row("profiler", "http", facts.profiler.has_http, "daemon", facts.profiler.has_daemon,
             "reads_body", facts.profiler.reads_body, "kind", facts.profiler.kind, "folder",
             facts.profiler.folder, "with_stack", facts.profiler.with_stack, "max_iterations",
             facts.profiler.max_iterations);
    if (probed.open) {
      json.Row("open_session", "key", probed.open->key, "since_unix_s", probed.open->since_unix_s,
               "steps", probed.open->steps);
    }
  });
  std::vector<std::string> remarks;
  for (const Finding& finding : deployment.findings) remarks.push_back(finding.Text());
  json.List("remarks", remarks);
  json.Rows("findings", FindingsOf(deployment, workers), [&](const Finding& finding) {
    json.Fields("id", KindOf(finding.id).id, "severity", NameOf(finding.severity()), "subject",
                UnlessEmpty(finding.subject), "evidence", finding.evidence, "remedy",
                finding.Remedy());
  });
  json.End();
  return std::move(json).Finish();
}

std::string OutcomesJson(const std::string& action, const std::vector<ControlOutcome>& outcomes) {
  JsonWriter json;
  json.BeginObject();
  json.Fields("schema", 1, "action", action);
  if (const ControlSpread spread = SpreadOf(outcomes); spread.ns)
    json.Field("spread_ns", *spread.ns);
  json.Rows("workers", outcomes, [&](const ControlOutcome& outcome) {
    json.Fields("url", outcome.url, "result", NameOf(outcome.verdict));
    if (outcome.status != 0) json.Field("status", outcome.status);
    if (outcome.answered_ns != 0) json.Field("took_ns", outcome.answered_ns - outcome.sent_ns);
    json.Field("said", UnlessEmpty(outcome.said));
  });
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
