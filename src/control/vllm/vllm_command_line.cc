#include "control/vllm/vllm_command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/parse_json.h"
#include "base/words.h"
#include "control/engine_folder.h"
#include "control/live/port_owner.h"

namespace tacho {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kConfig = "profiler-config";
// "profiler-": Python's parser accepts the beginning of an option's name.
constexpr size_t kShortest = 9;
constexpr const char* kFolder = "torch_profiler_dir";

// The value of a dotted option: JSON, or the text itself. vLLM accepts true and false in upper and
// lower case.
OrderedJson ValueOf(const std::string& text) {
  const std::string lower = AsciiLowered(text);
  if (lower == "true" || lower == "false") return lower == "true";
  const OrderedJson json = ParseOrderedJson(text);
  return json.is_primitive() && !json.is_discarded() ? json : OrderedJson(text);
}

OrderedJson ConfigOf(const std::vector<std::string>& words,
                     const std::vector<std::string>& environment) {
  OrderedJson config = OrderedJson::object();
  for (const std::string& setting : environment) {
    const std::string_view text = setting;
    const auto value = text.substr(std::min(text.find('='), text.size() - 1) + 1);
    if (text.starts_with("VLLM_TORCH_PROFILER_DIR=")) config[kFolder] = value;
    if (text.starts_with("VLLM_TORCH_PROFILER_WITH_STACK="))
      config["torch_profiler_with_stack"] = value != "0";
  }
  const ProfilerArgument argument = ProfilerArgumentOf(words);
  for (const CommandOption& option : argument.dotted) config[option.name] = ValueOf(*option.value);
  if (!argument.json.empty() && argument.dotted.empty())
    if (const OrderedJson json = ParseOrderedJson(argument.json.back()); json.is_object())
      config.update(json);
  return config;
}

std::string TextOf(const OrderedJson& config) {
  return config.empty() ? "" : config.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

namespace {

// The number of words, from words[i] on, that form a --profiler-config with a JSON value.
size_t WordsOfJsonConfig(const std::vector<std::string>& words, size_t i) {
  const std::vector<CommandOption> alone = OptionsOf({words[i]});
  if (alone.size() != 1 || alone[0].name.size() < kShortest || !kConfig.starts_with(alone[0].name))
    return 0;
  return alone[0].value || i + 1 == words.size() ? 1 : 2;
}

}  // namespace

ProfilerArgument ProfilerArgumentOf(const std::vector<std::string>& words) {
  ProfilerArgument argument;
  for (CommandOption& option : OptionsOf(words)) {
    const size_t dot = option.name.find('.');
    const std::string_view name = std::string_view(option.name).substr(0, dot);
    if (name.size() < kShortest || !kConfig.starts_with(name)) continue;
    if (!option.value) {
      argument.lacks_value = true;
    } else if (dot == std::string::npos) {
      argument.json.push_back(std::move(*option.value));
    } else {
      option.name.erase(0, dot + 1);
      argument.dotted.push_back(std::move(option));
    }
  }
  return argument;
}

std::string ProfilerConfigOf(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment) {
  return TextOf(ConfigOf(words, environment));
}

std::vector<std::string> WithProfilerConfig(
    const std::vector<std::string>& words,
    const std::vector<std::pair<std::string, std::string>>& added) {
  const ProfilerArgument argument = ProfilerArgumentOf(words);
  const bool is_json = argument.json.empty() || ParseOrderedJson(argument.json.back()).is_object();
  if (added.empty() || argument.lacks_value || !is_json) return words;
  const OrderedJson given = ConfigOf(words, {});
  const bool torch = given.value("profiler", OrderedJson("torch")) == "torch";
  const auto fits = [&](const std::string& key) {
    return !given.contains(key) && (torch || !key.starts_with("torch_"));
  };
  std::vector<std::string> all;
  if (!argument.dotted.empty()) {
    // Adds dotted options, because vLLM ignores a JSON value beside them.
    all = words;
    for (const auto& [key, value] : added)
      if (fits(key)) all.push_back(fmt::format("--{}.{}={}", kConfig, key, value));
    return all;
  }
  OrderedJson config = OrderedJson::object();
  for (const auto& [key, value] : added)
    if (fits(key)) config[key] = ValueOf(value);
  config.update(given);
  for (size_t i = 0; i < words.size();) {
    const size_t skipped = WordsOfJsonConfig(words, i);
    if (skipped == 0) all.push_back(words[i]);
    i += std::max<size_t>(skipped, 1);
  }
  all.push_back(fmt::format("--{}", kConfig));
  all.push_back(TextOf(config));
  return all;
}

std::string ProfilerConfigOfProcess(int64_t pid) {
  OrderedJson config = ConfigOf(WordsOf(pid), SettingsOf(pid));
  if (auto folder = config.find(kFolder); folder != config.end() && folder->is_string())
    *folder = FolderOfProcess(pid, folder->get<std::string>());
  return TextOf(config);
}

}  // namespace tacho
