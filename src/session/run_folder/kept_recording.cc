#include "session/run_folder/kept_recording.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/parse_json.h"
#include "io/read_whole.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kMostRunJson = size_t{1} << 26;
constexpr size_t kMostPlanFacts = size_t{1} << 16;
constexpr uint64_t kMostWhole = uint64_t{1} << 61;
constexpr size_t kMostSentences = 100;
constexpr size_t kMostValues = 100;

const Json* Member(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return at == object.end() ? nullptr : &*at;
}

std::string TextOf(const Json& object, const char* key) {
  const Json* const value = Member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

// Reads a count or a time in ns; 0 if the value is missing or is no such number.
int64_t WholeOf(const Json& object, const char* key) {
  const Json* const value = Member(object, key);
  if (value == nullptr || !value->is_number_unsigned()) return 0;
  const auto whole = value->get<uint64_t>();
  return whole <= kMostWhole ? static_cast<int64_t>(whole) : 0;
}

std::optional<double> NumberOf(const Json& object, const char* key) {
  const Json* const value = Member(object, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<KeptTimes> TimesOf(const Json& window, const char* key) {
  const Json* const times = Member(window, key);
  if (times == nullptr || !times->is_object()) return std::nullopt;
  return KeptTimes{
      WholeOf(*times, "requests"), {WholeOf(*times, "p50_ns")}, {WholeOf(*times, "p99_ns")}};
}

KeptWindow FiguresOf(const Json& window) {
  return {.scenario = TextOf(window, "scenario"),
          .duration = {WholeOf(window, "duration_ns")},
          .requests_done = WholeOf(window, "requests_done"),
          .requests_failed = WholeOf(window, "requests_failed"),
          .output_tokens = WholeOf(window, "output_tokens"),
          .tokens_per_second = NumberOf(window, "output_tokens_per_s"),
          .ttft = TimesOf(window, "ttft"),
          .tpot = TimesOf(window, "tpot")};
}

std::optional<KeptWindow> WindowOf(const Json& run, const char* key) {
  const Json* const window = Member(run, key);
  if (window == nullptr || !window->is_object()) return std::nullopt;
  KeptWindow kept = FiguresOf(*window);
  const Json* const scenarios = Member(*window, "scenarios");
  if (scenarios == nullptr || !scenarios->is_array()) return kept;
  for (const Json& scenario : *scenarios) {
    if (!scenario.is_object() || kept.scenarios.size() == kMostValues) continue;
    kept.scenarios.push_back(FiguresOf(scenario));
    kept.scenarios.back().duration = kept.duration;
  }
  return kept;
}

std::optional<KeptChange> StepChangeOf(const Json& run) {
  const Json* const overhead = Member(run, "overhead");
  const Json* const figures = overhead == nullptr ? nullptr : Member(*overhead, "figures");
  if (figures == nullptr || !figures->is_array()) return std::nullopt;
  for (const Json& figure : *figures) {
    if (TextOf(figure, "id") != "step") continue;
    const auto change = NumberOf(figure, "change"), low = NumberOf(figure, "low"),
               high = NumberOf(figure, "high");
    if (change && low && high) return KeptChange{*change, *low, *high};
  }
  return std::nullopt;
}

// The workers' values of the field `key`: sorted, without duplicates.
std::vector<std::string> OfWorkers(const Json& run, const char* key) {
  std::set<std::string> values;
  for (const Json& worker : run.at("workers")) {
    if (std::string value = TextOf(worker, key); !value.empty() && values.size() < kMostValues)
      values.insert(std::move(value));
  }
  return {values.begin(), values.end()};
}

// The path of the file `name` in a recording; `path` is the recording's folder or the traces/ in
// it. "" if there is no such file.
std::string FileOfRecording(const std::string& path, const char* name) {
  std::error_code failed;
  fs::path folder = fs::absolute(path, failed).lexically_normal();
  if (failed) return "";
  if (!folder.has_filename()) folder = folder.parent_path();
  if (folder.filename() == "traces") folder = folder.parent_path();
  const fs::path file = folder / name;
  return fs::is_regular_file(file, failed) && !failed ? file.string() : "";
}

std::vector<std::string> TextsOf(const Json& run, const char* key) {
  std::vector<std::string> texts;
  const Json* const list = Member(run, key);
  if (list == nullptr || !list->is_array()) return texts;
  for (const Json& text : *list) {
    if (text.is_string() && texts.size() < kMostSentences) texts.push_back(text.get<std::string>());
  }
  return texts;
}

}  // namespace

std::optional<KeptRecording> KeptRecordingOf(std::string_view run_json) {
  const Json run = ParseJson(run_json);
  const Json* const proof = Member(run, "proof");
  if (proof == nullptr || Member(run, "workers") == nullptr) return std::nullopt;
  KeptRecording kept;
  kept.command = TextOf(run, "command");
  if (const Json* const tacho = Member(run, "tacho"))
    kept.tacho_version = TextOf(*tacho, "version");
  kept.proven = WholeOf(*proof, "proven");
  kept.incomplete = WholeOf(*proof, "incomplete");
  kept.ranks = WholeOf(*proof, "ranks");
  if (const Json* const cost = Member(run, "cost_of_profiling")) {
    kept.cost_share = NumberOf(*cost, "share");
    kept.cost_error = NumberOf(*cost, "error");
  }
  kept.step_change = StepChangeOf(run);
  kept.baseline = WindowOf(run, "baseline");
  kept.profiled = WindowOf(run, "profiled");
  kept.engines = OfWorkers(run, "engine");
  kept.models = OfWorkers(run, "model");
  kept.missing = TextsOf(run, "missing");
  kept.troubles = TextsOf(run, "troubles");
  kept.remarks = TextsOf(run, "remarks");
  return kept;
}

std::string RunJsonFor(const std::string& path) {
  const std::string file = FileOfRecording(path, "run.json");
  return file.empty() ? "" : ReadWholeFile(file, kMostRunJson).value_or("");
}

std::optional<KeptLoad> KeptLoadOf(std::string_view plan_facts) {
  while (plan_facts.ends_with('\n')) plan_facts.remove_suffix(1);
  if (!plan_facts.ends_with(',')) return std::nullopt;
  plan_facts.remove_suffix(1);
  const Json plan = ParseJson(std::string(plan_facts) + "}");
  if (!plan.is_object() || Member(plan, "arrivals") == nullptr) return std::nullopt;
  KeptLoad load;
  for (const auto& [key, value] : plan.items())
    load[key] = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Loads that differ only in these fields count as the same. Recordings by earlier versions have
  // no `until_stopped`, because their loads had an end.
  for (const char* differs :
       {"seed", "salt", "duration_ns", "grace_ns", "until_stopped", "round_ns"})
    load.erase(differs);
  if (plan.contains("duration_ns") || plan.contains("until_stopped")) load.erase("requests");
  // The model's context length shapes the load only if it shortens requests.
  if (WholeOf(plan, "cut_to_model") == 0) load.erase("most_total_tokens");
  load.erase("cut_to_model");
  return load;
}

std::string PlanFactsFor(const std::string& path) {
  const std::string name = FileOfRecording(path, "plan.json");
  if (name.empty()) return "";
  std::ifstream file(name, std::ios::binary);
  std::string text(kMostPlanFacts, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const size_t end = text.find('\n');
  return end == std::string::npos ? "" : text.substr(0, end);
}

}  // namespace tacho
