#include "cli/launch/launch_narrator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/screen/output.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"
#include "text/json_writer.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr int64_t kBetweenLinesS = 10;

std::string Proven(const PlannedLaunch& plan, const PlannedServer& server,
                   const ProfilingProof& proof) {
  if (plan.preset == "nsys") return "by nsys: tacho record --via nsys";
  if (!proof.has_route)
    return "NOT PROVEN: the engine could not be asked for its routes: tacho doctor " + plan.url();
  if (!*proof.has_route)
    return "NOT PROVEN: the engine has no POST /start_profile: tacho doctor " + plan.url();
  std::string text = "POST /start_profile is there";
  if (proof.in_arguments)
    text += ProfilerArgumentOf(server.command).empty() ? ", its trace folder is in its environment"
                                                       : ", its options are in the arguments";
  if (proof.logged)
    text += fmt::format(", and line {} of its log shows that it took them", *proof.logged);
  return text;
}

std::string NextLine(const PlannedLaunch& plan) {
  // If the engine's own profiler would capture nothing, only nsys can profile it.
  const bool lacks_nsys = std::ranges::find(plan.findings, FindingId::kNothingCaptures,
                                            &Finding::id) != plan.findings.end();
  return fmt::format(
      "next: {}tacho record {}{}{}\n", lacks_nsys ? "launch it with --preset nsys, then " : "",
      fmt::join(plan.targets(), " "), plan.preset == "nsys" || lacks_nsys ? " --via nsys" : "",
      plan.record_options.empty() ? "" : " " + plan.record_options);
}

void WriteServer(JsonWriter& json, const PlannedServer& server, const LaunchRecord* record,
                 const ProfilingProof* proof) {
  json.BeginObject();
  json.Fields("name", server.name, "url", server.url, "command", ShellLine(server), "log",
              server.log);
  json.Field("traces", UnlessEmpty(server.traces));
  if (record != nullptr) {
    for (const LaunchRecord::Server& running : record->servers)
      if (running.name == server.name) json.Fields("pid", running.pid, "keeper", running.keeper);
  }
  if (proof != nullptr) {
    json.BeginRow("profiling");
    json.Fields("in_arguments", proof->in_arguments, "log_line", proof->logged, "has_route",
                proof->has_route);
    json.End();
  }
  json.End();
}

}  // namespace

int64_t LaunchNarrator::Seconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin_)
      .count();
}

void LaunchNarrator::Clear() {
  if (open_line_) DrawOnStderr("\r\x1b[K");
  open_line_ = false;
}

void LaunchNarrator::OnProgress(const std::string& server, const std::string& line) {
  if (quiet_) return;
  const int64_t now = Seconds();
  std::string text = fmt::format("{}: starting, {} s", server, now);
  if (!line.empty()) text += ": " + VisibleText(line);
  if (live_columns_) {
    DrawOnStderr("\r\x1b[K" + FitText(text, *live_columns_));
    open_line_ = true;
    return;
  }
  const auto [said, first] = said_at_.try_emplace(server, now);
  if (!first && now - said->second < kBetweenLinesS) return;
  said->second = now;
  DrawOnStderr(text + "\n");
}

void EndAndSay(LaunchedServers& servers) {
  for (const std::string& stuck : servers.End()) Complain(stuck);
}

Result<void> StartAndNarrate(LaunchedServers& servers, HttpClient& client,
                             std::chrono::milliseconds patience, LaunchNarrator& narrator,
                             const std::stop_token& stop) {
  auto started = servers.Start(
      client, patience,
      [&](const std::string& server, const std::string& line) {
        narrator.OnProgress(server, line);
      },
      stop);
  narrator.Clear();
  if (!started) EndAndSay(servers);
  return started;
}

void SayWarnings(const PlannedLaunch& plan) {
  for (const Finding& finding : plan.findings) Complain(finding.Text());
  if (plan.servers.size() > 1 && !plan.router)
    Complain(fmt::format("no {}-router is installed: none stands in front of the {} engines",
                         NameOf(plan.kind), plan.servers.size()));
  if (plan.preset != "deep" && plan.preset != "sources") return;
  const auto preset = std::ranges::find(Presets(), plan.preset, &PresetWords::name);
  Complain(fmt::format("--preset {}: {}", preset->name, preset->meaning));
}

std::string PlanText(const PlannedLaunch& plan) {
  std::string text;
  for (const PlannedServer& server : plan.servers) text += ShellLine(server) + "\n";
  if (plan.router) text += ShellLine(*plan.router) + "\n";
  return text + NextLine(plan);
}

std::string LaunchScreen(const LaunchedServers& servers, const std::vector<ProfilingProof>& proofs,
                         int64_t seconds) {
  const PlannedLaunch& plan = servers.plan();
  std::string text;
  for (size_t i = 0; i < plan.servers.size(); ++i) {
    const PlannedServer& server = plan.servers[i];
    text += fmt::format("{} {}: {}\n", server.name, plan.version, server.url);
    text += fmt::format("  profiling  {}\n", Proven(plan, server, proofs[i]));
    text += fmt::format("  traces     {}\n  log        {}\n", server.traces, server.log);
  }
  if (plan.router)
    text += fmt::format("{}: {}\n  log        {}\n", plan.router->name, plan.router->url,
                        plan.router->log);
  return text + fmt::format("\nready after {} s\n", seconds) + NextLine(plan);
}

std::string LaunchJson(const PlannedLaunch& plan, const LaunchRecord* record,
                       const std::vector<ProfilingProof>& proofs) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, TachoVersion());
  json.Field("engine", NameOf(plan.kind));
  json.Field("version", UnlessEmpty(plan.version));
  json.Field("preset", plan.preset);
  if (record != nullptr) json.Fields("name", record->name, "folder", record->folder);
  json.Field("url", plan.url());
  json.BeginArray("servers");
  for (size_t i = 0; i < plan.servers.size(); ++i)
    WriteServer(json, plan.servers[i], record, i < proofs.size() ? &proofs[i] : nullptr);
  if (plan.router) WriteServer(json, *plan.router, record, nullptr);
  json.End();
  json.BeginArray("findings");
  for (const Finding& finding : plan.findings) {
    json.BeginObject();
    json.Fields("id", KindOf(finding.id).id, "severity", NameOf(finding.severity()), "evidence",
                finding.evidence, "remedy", finding.Remedy());
    json.End();
  }
  json.End();
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
