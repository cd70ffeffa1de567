#include "session/run_folder/run_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <utility>

#include "base/parse_json.h"
#include "base/secrets.h"
#include "control/version.h"
#include "load/plan/plan_json.h"
#include "run/model_config.h"
#include "run/run_place.h"
#include "session/files/model_config.h"
#include "session/recording.h"
#include "session/run_folder/load_requests.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string Dump(const OrderedJson& json) {
  // Texts from engines may hold any bytes: replaces invalid UTF-8 instead of throwing.
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

template <typename T>
void Put(OrderedJson& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

OrderedJson FactsJson(const EngineFacts& facts) {
  OrderedJson json = {{"engine", NameOf(facts.kind)}};
  if (!facts.version.empty()) json["engine_version"] = facts.version;
  if (!facts.model.empty()) json["model"] = facts.model;
  Put(json, "max_model_len", facts.max_model_len);
  Put(json, "tensor_parallel", facts.tensor_parallel);
  Put(json, "pipeline_parallel", facts.pipeline_parallel);
  Put(json, "data_parallel", facts.data_parallel);
  for (const auto& [key, text] : {std::pair("dtype", &facts.dtype),
                                  {"quantization", &facts.quantization},
                                  {"kv_cache_dtype", &facts.kv_cache_dtype}})
    if (!text->empty()) json[key] = *text;
  Put(json, "clock_offset_ns", facts.clock_offset_ns);
  Put(json, "clock_error_ns", facts.clock_error_ns);
  json["round_trip_ns"] = facts.round_trip_ns;
  OrderedJson& profiler = json["profiler"];
  profiler = {{"http", facts.profiler.has_http},
              {"daemon", facts.profiler.has_daemon},
              {"reads_body", facts.profiler.reads_body}};
  Put(profiler, "folder", facts.profiler.folder);
  Put(profiler, "with_stack", facts.profiler.with_stack);
  Put(profiler, "use_gzip", facts.profiler.use_gzip);
  Put(profiler, "dump_table", facts.profiler.dump_table);
  Put(profiler, "ignore_frontend", facts.profiler.ignore_frontend);
  Put(profiler, "max_iterations", facts.profiler.max_iterations);
  return json;
}

OrderedJson OutcomeJson(const ControlRequest& request, const ControlOutcome& outcome,
                        int64_t shift) {
  OrderedJson json = {
      {"request", request.path}, {"body", request.body}, {"status", outcome.status}};
  if (outcome.sent_ns != 0) json["sent_unix_ns"] = outcome.sent_ns + shift;
  if (outcome.answered_ns != 0) json["took_ns"] = outcome.answered_ns - outcome.sent_ns;
  if (!outcome.said.empty()) json["said"] = outcome.said;
  return json;
}

void PutFigures(OrderedJson& json, const LoadWindow& window) {
  json["requests_done"] = window.requests_done;
  json["requests_failed"] = window.requests_failed;
  json["output_tokens"] = window.output_tokens;
  Put(json, "output_tokens_per_s", window.TokensPerSecond());
  for (const auto& [key, times] :
       {std::pair{"ttft", &window.ttft}, std::pair{"tpot", &window.tpot}}) {
    if (times->count == 0) continue;
    json[key] = {{"requests", times->count},
                 {"p50_ns", std::llround(*times->At(50))},
                 {"p99_ns", std::llround(*times->At(99))}};
  }
}

OrderedJson WindowJson(const LoadWindow& window, int64_t shift) {
  OrderedJson json = {{"begin_unix_ns", window.begin_ns + shift},
                      {"duration_ns", window.end_ns - window.begin_ns}};
  PutFigures(json, window);
  for (const LoadWindow& one : window.scenarios)
    PutFigures(json["scenarios"].emplace_back(OrderedJson{{"scenario", one.scenario}}), one);
  return json;
}

OrderedJson OverheadJson(const Overhead& overhead, int64_t shift) {
  const OverheadOptions& asked = overhead.asked;
  OrderedJson json = {{"window_ns", asked.window_ns},
                      {"precision", asked.precision},
                      {"blocks", overhead.blocks},
                      {"blocks_planned", overhead.blocks_planned},
                      {"blocks_with_failures", overhead.blocks_with_failures}};
  if (!asked.preset.empty()) json["preset"] = asked.preset;
  OrderedJson& figures = json["figures"] = OrderedJson::array();
  for (const OverheadFigure& figure : overhead.figures)
    if (const std::optional<OverheadEstimate>& estimate = figure.estimate)
      figures.push_back({{"id", NameOf(figure.id)},
                         {"blocks", estimate->blocks},
                         {"unprofiled", estimate->unprofiled},
                         {"profiled", estimate->profiled},
                         {"change", estimate->change},
                         {"low", estimate->low},
                         {"high", estimate->high},
                         {"verdict", NameOf(figure.verdict)}});
  OrderedJson& windows = json["windows"] = OrderedJson::array();
  for (const OverheadWindow& window : overhead.windows)
    windows.push_back({{"block", window.block},
                       {"profiled", window.profiled},
                       {"begin_unix_ns", window.begin_ns + shift},
                       {"duration_ns", window.end_ns - window.begin_ns}});
  return json;
}

// The path relative to the run folder, so that the folder can be moved.
std::string Inside(const RunFolder& folder, const std::string& path) {
  return path.starts_with(folder.path() + "/") ? path.substr(folder.path().size() + 1) : path;
}

OrderedJson FindingJson(const RunFolder& folder, const Finding& finding) {
  OrderedJson json = {{"id", KindOf(finding.id).id}, {"severity", NameOf(finding.severity())}};
  if (!finding.subject.empty()) json["subject"] = Inside(folder, finding.subject);
  json["evidence"] = Inside(folder, finding.evidence);
  json["remedy"] = finding.Remedy();
  return json;
}

OrderedJson InFlightJson(const WorkerInFlight& in_flight) {
  OrderedJson json = {{"uncertainty_ns", in_flight.uncertainty.ns},
                      {"shared", in_flight.shared},
                      {"unix_ns", OrderedJson::array()}};
  for (const Interval& when : in_flight.when.intervals())
    json["unix_ns"].push_back({when.start.ns, when.end.ns});
  return json;
}

OrderedJson WorkerJson(const Recording& recording, const RecordedWorker& worker, const Proof& proof,
                       int64_t shift) {
  OrderedJson json = FactsJson(worker.facts);
  json["name"] = worker.expectation.name;
  json["url"] = worker.worker.url;
  json["found_in"] = worker.worker.found_in;
  json["key"] = worker.key;
  const std::string& folder = worker.stays_in.empty() ? worker.folder : worker.stays_in;
  if (!folder.empty()) json["engine_folder"] = folder;
  if (!worker.nsys_session.empty()) json["nsys_session"] = worker.nsys_session;
  if (worker.remote) json["collected_from"] = worker.remote->Text();
  if (worker.started) json["start"] = OutcomeJson(*worker.start, *worker.started, shift);
  if (worker.stopped) json["stop"] = OutcomeJson(*worker.stop, *worker.stopped, shift);
  if (worker.forecast)
    json["forecast"] = {{"bytes", std::llround(worker.forecast->bytes)},
                        {"flush_ns", std::llround(worker.forecast->flush_ns)}};
  if (const std::optional<ProfileFigures>& recorded = worker.recorded)
    json["recorded"] = {{"steps", std::llround(recorded->steps)},
                        {"events", std::llround(recorded->events)},
                        {"bytes", std::llround(recorded->bytes)},
                        {"window_ns", std::llround(recorded->window_ns)},
                        {"flush_ns", std::llround(recorded->flush_ns)},
                        {"table_ns", std::llround(recorded->table_ns)}};
  for (const std::optional<int64_t>& steps : worker.expectation.steps_by_metrics)
    json["steps_by_metrics"].push_back(steps ? OrderedJson(*steps) : OrderedJson());
  if (worker.expectation.trouble) json["trouble"] = worker.expectation.trouble->Words();
  OrderedJson& ranks = json["ranks"] = OrderedJson::array();
  for (const RankProof& rank : proof.ranks) {
    if (rank.worker_url != worker.worker.url) continue;
    OrderedJson row = {{"name", rank.identity.RankName()},
                       {"engine", rank.engine},
                       {"rank", rank.rank},
                       {"proven", rank.proven}};
    OrderedJson files = OrderedJson::array();
    for (const std::string& path : rank.paths) files.push_back(Inside(recording.folder, path));
    row["files"] = files;
    Put(row, "steps", rank.steps);
    if (rank.why) row["why"] = rank.why->Words();
    ranks.push_back(row);
  }
  return json;
}

std::string Commented(const std::string& lines) {
  std::istringstream all(lines);
  std::string text;
  for (std::string line; std::getline(all, line);) text += "#   " + line + "\n";
  return text;
}

std::string ShellWords(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + ShellWord(word);
  return line;
}

std::string CommandsScript(const Recording& recording, const RecordOptions& options) {
  std::string text = "#!/bin/sh\n# All of it once more:\n" + options.command + "\n\n";
  if (const std::optional<DaemonWindow>& daemon = recording.daemon) {
    text +=
        "# The engines were started with this in their environment:\n"
        "#   KINETO_USE_DAEMON=1\n";
    if (!daemon->socket_folder.empty())
      text += "#   KINETO_IPC_SOCKET_DIR=" + ShellWord(daemon->socket_folder) + "\n";
    return text + "# What their processes were told when they asked:\n" +
           Commented(daemon->request.empty() ? "nothing" : daemon->request);
  }
  if (const std::optional<NsysWindow>& nsys = recording.nsys) {
    text += "# What nsys was asked, by hand:\n";
    for (const std::vector<std::string>& words : nsys->commands)
      text += Commented(ShellWords(words));
    return text;
  }
  text += "# What was sent to the engines, by hand:\n";
  for (const RecordedWorker& worker : recording.workers)
    if (worker.started) text += Commented(worker.start->AsCurl());
  text += "# ... load ...\n";
  for (const RecordedWorker& worker : recording.workers)
    if (worker.stopped) text += Commented(worker.stop->AsCurl());
  return text;
}

// Adds the findings, both as data and as the sentences on the screen.
void AddFindings(const Recording& recording, const Proof& proof, OrderedJson& json) {
  const auto list = [&](const char* key, const std::vector<std::string>& texts) {
    OrderedJson& array = json[key] = OrderedJson::array();
    for (const std::string& text : texts) array.push_back(Inside(recording.folder, text));
  };
  list("extra_files", proof.extra);
  list("foreign_files", proof.foreign);
  std::vector<Finding> all = proof.Missing();
  list("missing", TextsOf(all, true));
  std::vector<Finding> others = recording.findings;
  others.insert(others.end(), proof.remarks.begin(), proof.remarks.end());
  list("troubles", TextsOf(others, true));
  list("remarks", TextsOf(others, false));
  all.insert(all.end(), others.begin(), others.end());
  OrderedJson& findings = json["findings"] = OrderedJson::array();
  for (const Finding& finding : all) findings.push_back(FindingJson(recording.folder, finding));
}

// Works line by line, so that an unclosed quote affects only its own line.
std::string LogWithoutSecrets(std::string log) {
  std::span<char> rest(log);
  while (!rest.empty()) {
    const auto size = static_cast<size_t>(std::ranges::find(rest, '\n') - rest.begin());
    BlankSecrets(rest.first(size));
    rest = rest.subspan(std::min(rest.size(), size + 1));
  }
  return log;
}

// The texts of the config.json and of the hf_quant_config.json of the worker's model; "" unless
// tacho has formulas for this model. An engine may name any folder as its model, so no other text
// may be kept.
std::pair<std::string, std::string> ModelConfigOf(const RecordedWorker& worker) {
  if (!worker.stays_in.empty()) return {};
  constexpr std::chrono::seconds kPatience(5);
  const std::shared_ptr<const Transport> host =
      worker.remote ? worker.remote->transport : MakeLocalTransport();
  for (const std::string& model : {worker.facts.model_root, worker.facts.model}) {
    std::string config = FetchModelConfig(*host, model, kPatience);
    if (!ParseModelConfig(config)) continue;
    std::string formats = FetchModelConfig(*host, model, kPatience, kQuantizationFile);
    if (!JsonMember(ParseJson(formats), "quantization").is_object()) formats.clear();
    return {std::move(config), std::move(formats)};
  }
  return {};
}

}  // namespace

std::vector<Finding> WriteRecording(const Recording& recording, const RecordOptions& options) {
  std::vector<Finding> lost;
  const auto write = [&](const std::string& name, const std::string& content,
                         mode_t mode = kForAll) {
    if (auto written = recording.folder.Write(name, content, mode); !written)
      lost.push_back({FindingId::kNotKept, "", "not kept: " + written.error().message});
  };
  OrderedJson probes = OrderedJson::array();
  for (const RecordedWorker& worker : recording.workers) {
    const std::string& name = worker.expectation.name;
    OrderedJson facts = FactsJson(worker.facts);
    facts["url"] = worker.worker.url;
    probes.push_back(facts);
    if (worker.before) write("metrics/" + name + "-before.txt", worker.before->text);
    if (worker.after) write("metrics/" + name + "-after.txt", worker.after->text);
    if (const std::string text = LogWithoutSecrets(worker.log.Text()); !text.empty())
      write("logs/" + name + ".log", text, kForOwner);
    const auto [config, formats] = ModelConfigOf(worker);
    if (!config.empty()) write(ModelConfigName(name), config);
    if (!formats.empty()) write(QuantizationName(name), formats);
  }
  write("probes.json", Dump(probes));
  write("commands.sh", CommandsScript(recording, options), kForOwner);
  std::span<const RequestRecord> sent;
  if (recording.load) sent = recording.load->requests;
  if (recording.plan) write("plan.json", PlanJson(*recording.plan, sent));
  if (recording.load) write("requests.jsonl", RecordsAsJsonLines(*recording.load));
  return lost;
}

std::string RunJsonText(const Recording& recording, const RecordOptions& options,
                        const Proof& proof, std::string_view tacho_version, int exit_status,
                        const std::string& analysis) {
  int64_t shift = recording.clocks.unix_ns - recording.clocks.monotonic_ns;
  OrderedJson json = {
      {"schema", 1},
      {"tacho", {{"version", tacho_version}}},
      {"command", options.command},
      {"exit_status", exit_status},
      {"complete", proof.complete && !recording.HasTrouble() && !recording.interrupted_ns},
      {"interrupted", recording.interrupted_ns.has_value()},
      {"via", NameOf(recording.via)},
      {"clocks",
       {{"monotonic_ns", recording.clocks.monotonic_ns}, {"unix_ns", recording.clocks.unix_ns}}}};
  const auto proven = std::ranges::count_if(proof.ranks, &RankProof::proven);
  json["proof"] = {{"proven", proven}, {"ranks", proof.ranks.size()}};
  if (const size_t incomplete = proof.Incomplete(); incomplete > 0)
    json["proof"]["incomplete"] = incomplete;
  if (const auto more = ParseOrderedJson(analysis); more.is_object()) json.update(more);
  if (!recording.deployment.router_url.empty()) json["router"] = recording.deployment.router_url;
  Put(json, "start_spread_ns", recording.starts.answered_ns);
  if (const WindowPlan& plan = recording.window; plan.window_ns > 0) {
    OrderedJson& window = json["window"];
    window = {{"by_budget", plan.by_budget},
              {"over_budget", plan.over},
              {"budget_bytes", options.budget.bytes},
              {"budget_flush_ns", options.budget.flush_ns},
              {"most_ns", plan.window_ns}};
    Put(window, "steps", plan.steps);
  }
  if (recording.interrupted_ns) json["interrupted_unix_ns"] = *recording.interrupted_ns + shift;
  if (recording.daemon && recording.daemon->begun())
    json["daemon_window"] = {{"begin_unix_ns", recording.daemon->begin_ns + shift},
                             {"duration_ns", recording.daemon->end_ns - recording.daemon->begin_ns},
                             {"processes", recording.daemon->processes}};
  if (recording.nsys) json["nsys"] = {{"version", recording.nsys->version}};
  if (recording.load) {
    if (options.baseline_ns > 0 && recording.baseline.end_ns > 0)
      json["baseline"] = WindowJson(recording.baseline, shift);
    if (recording.profiled.end_ns > 0) json["profiled"] = WindowJson(recording.profiled, shift);
    if (std::optional<Recording::Cost> cost = recording.CostOfProfiling())
      json["cost_of_profiling"] = {{"share", cost->share}, {"error", cost->error}};
  }
  if (recording.overhead) json["overhead"] = OverheadJson(*recording.overhead, shift);
  OrderedJson& workers = json["workers"] = OrderedJson::array();
  const RunInFlight in_flight = InFlightOf(recording);
  for (const std::vector<RecordedWorker>* each : {&recording.workers, &recording.left_out})
    for (const RecordedWorker& worker : *each) {
      OrderedJson row = WorkerJson(recording, worker, proof, shift);
      const auto requests = in_flight.find(worker.expectation.name);
      if (requests != in_flight.end()) row["in_flight"] = InFlightJson(requests->second);
      workers.push_back(std::move(row));
    }
  AddFindings(recording, proof, json);
  return Dump(json);
}

}  // namespace tacho
