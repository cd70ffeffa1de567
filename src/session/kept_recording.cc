#include "session/kept_recording.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/read_whole.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kMostRunJson = size_t{1} << 26;
constexpr size_t kMostSentences = 100;

const Json* Member(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return at == object.end() ? nullptr : &*at;
}

std::string TextOf(const Json& object, const char* key) {
  const Json* const value = Member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

int64_t WholeOf(const Json& object, const char* key) {
  const Json* const value = Member(object, key);
  return value != nullptr && value->is_number_integer() ? value->get<int64_t>() : 0;
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

std::optional<KeptWindow> WindowOf(const Json& run, const char* key) {
  const Json* const window = Member(run, key);
  if (window == nullptr || !window->is_object()) return std::nullopt;
  return KeptWindow{{WholeOf(*window, "duration_ns")},
                    WholeOf(*window, "requests_done"),
                    WholeOf(*window, "requests_failed"),
                    WholeOf(*window, "output_tokens"),
                    NumberOf(*window, "output_tokens_per_s"),
                    TimesOf(*window, "ttft"),
                    TimesOf(*window, "tpot")};
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
  const Json run = Json::parse(run_json, nullptr, false);
  const Json* const proof = Member(run, "proof");
  if (proof == nullptr || Member(run, "workers") == nullptr) return std::nullopt;
  KeptRecording kept;
  kept.command = TextOf(run, "command");
  if (const Json* const tacho = Member(run, "tacho"))
    kept.tacho_version = TextOf(*tacho, "version");
  kept.proven = WholeOf(*proof, "proven");
  kept.ranks = WholeOf(*proof, "ranks");
  if (const Json* const cost = Member(run, "cost_of_profiling")) {
    kept.cost_share = NumberOf(*cost, "share");
    kept.cost_error = NumberOf(*cost, "error");
  }
  kept.baseline = WindowOf(run, "baseline");
  kept.profiled = WindowOf(run, "profiled");
  kept.missing = TextsOf(run, "missing");
  kept.troubles = TextsOf(run, "troubles");
  kept.remarks = TextsOf(run, "remarks");
  return kept;
}

std::string RunJsonFor(const std::string& path) {
  std::error_code failed;
  fs::path folder = fs::absolute(path, failed).lexically_normal();
  if (failed) return "";
  if (!folder.has_filename()) folder = folder.parent_path();
  if (folder.filename() == "traces") folder = folder.parent_path();
  const fs::path file = folder / "run.json";
  if (!fs::is_regular_file(file, failed) || failed) return "";
  return ReadWholeFile(file.string(), kMostRunJson).value_or("");
}

}  // namespace tacho
