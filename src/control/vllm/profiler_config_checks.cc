#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/closest.h"
#include "base/parse_json.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "control/launch/launch_plan.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"

// Finds what vLLM refuses in --profiler-config.

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr const char* kSubject = "--profiler-config";
// The words that pydantic accepts as true or false.
constexpr std::array<std::string_view, 6> kTrueWords{"true", "t", "yes", "y", "on", "1"};
constexpr std::array<std::string_view, 6> kFalseWords{"false", "f", "no", "n", "off", "0"};
std::string Text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

bool Contains(const std::vector<std::string>& words, const Json& value) {
  return value.is_string() &&
         std::ranges::find(words, value.get_ref<const std::string&>()) != words.end();
}

bool IsOneOf(const std::array<std::string_view, 6>& words, const Json& value) {
  return std::ranges::find(words, AsciiLowered(value.get_ref<const std::string&>())) != words.end();
}
bool IsTrue(const Json& value) {
  if (value.is_string()) return IsOneOf(kTrueWords, value);
  return value.is_boolean() ? value.get<bool>() : value == 1;
}
bool IsFlag(const Json& value) {
  if (value.is_string()) return IsOneOf(kTrueWords, value) || IsOneOf(kFalseWords, value);
  return value.is_boolean() || value == 0 || value == 1;
}

// The number that pydantic reads from a text: "+3", "1_0", "3.0". In a dotted option a letter may
// follow it: "1k".
std::optional<double> NumberIn(const std::string& value, bool dotted) {
  std::string digits(Trim(value));
  std::erase(digits, '_');
  std::string_view text = digits;
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::optional<double> number = TakeNumber<double>(text);
  const bool whole = text.empty() || (dotted && text.size() == 1);
  return whole && digits.find_first_of("eE") == std::string::npos ? number : std::nullopt;
}

bool IsCount(const Json& value, int64_t least, bool dotted) {
  std::optional<double> number;
  if (value.is_boolean())
    number = value.get<bool>() ? 1 : 0;
  else if (value.is_number())
    number = value.get<double>();
  else if (value.is_string())
    number = NumberIn(value.get_ref<const std::string&>(), dotted);
  return number && *number == std::floor(*number) && *number >= static_cast<double>(least);
}

// What the rule of a key demands, if `value` does not fit it; "" if it fits.
std::string Wanted(std::string_view rule, const Json& value, bool dotted) {
  const std::string_view form = TakeWord(rule);
  std::vector<std::string> words = WordsIn(rule);
  const auto null = std::ranges::find(words, "null");
  if (null != words.end())
    words.erase(null);
  else if (value.is_null())
    return form == "text" ? "a text" : "set";
  if (value.is_null()) return "";
  bool fits = value.is_string();
  std::string wanted = "a text";
  if (form == "flag") {
    fits = IsFlag(value);
    wanted = "true or false";
  } else if (form == "count") {
    const int64_t least = words.empty() ? 0 : 1;
    fits = IsCount(value, least, dotted);
    wanted = fmt::format("a whole number from {}", least);
  } else if (form == "list") {
    fits = value.is_array() && !value.empty() &&
           std::ranges::all_of(value, [&](const Json& one) { return Contains(words, one); });
    wanted = "a list of " + Joined(words);
  } else if (form == "choice") {
    fits = Contains(words, value);
    wanted = "one of " + Joined(words);
  }
  return fits ? "" : wanted;
}

class ProfilerConfigChecks {
 public:
  ProfilerConfigChecks(const LaunchPlan& plan, std::vector<Finding>& findings)
      : plan_(plan), findings_(findings), argument_(ProfilerArgumentOf(plan.words)) {}

  // Returns false if the engine will not start with this configuration.
  bool Run() {
    CheckSpelling();
    if (argument_.empty()) return !refused_;
    if (!IsKnown()) return false;
    ReadConfig();
    CheckKeys();
    if (!refused_) CheckContradictions();
    return !refused_;
  }

 private:
  void Add(FindingId id, std::string evidence, std::string remedy) {
    refused_ |= KindOf(id).severity == FindingSeverity::kBlocking;
    findings_.push_back({id, kSubject, std::move(evidence), std::move(remedy)});
  }
  std::string_view Rule(std::string_view key) const {
    return EngineRule(plan_.kind, plan_.version, key);
  }

  // Checks the spelling of --profiler-config, and of no other option: the others do not concern
  // tacho.
  void CheckSpelling() {
    constexpr std::string_view kOption = "profiler-config";
    if (plan_.kind != EngineKind::kVllm) return;
    for (const CommandOption& option : plan_.options) {
      const std::string name = option.name.substr(0, option.name.find('.'));
      if (kOption.starts_with(name) ||
          Closest(name, {std::string(kOption), "pooler-config"}) != kOption)
        continue;
      Add(FindingId::kOptionUnknown,
          fmt::format("{} has no such option, and does not start with it", plan_.Name()),
          "did you mean --profiler-config?");
      findings_.back().subject = "--" + name;
    }
  }

  // Whether the engine has the option --profiler-config.
  bool IsKnown() {
    if (plan_.kind == EngineKind::kVllm && !Rule("config.profiler").empty()) return true;
    Add(FindingId::kOptionUnknown,
        fmt::format("{} has no such option, and does not start with it", plan_.Name()),
        plan_.kind == EngineKind::kVllm ? std::string(Rule("enable"))
                                        : "leave it out: every SGLang server can be profiled");
    return false;
  }

  void ReadConfig() {
    if (argument_.lacks_value)
      Add(FindingId::kConfigUnreadable, "an option without its value: vLLM does not start",
          R"(give the fields as JSON: --profiler-config '{"profiler":"torch",...}')");
    for (const CommandOption& option : argument_.dotted) {
      Json value = ParseJson(*option.value);
      config_[option.name] = value.is_discarded() ? Json(*option.value) : std::move(value);
    }
    if (!argument_.dotted.empty()) {
      if (!argument_.json.empty())
        Add(FindingId::kConfigReplaced,
            fmt::format("vLLM takes --profiler-config.{} alone, and ignores the JSON of "
                        "--profiler-config",
                        argument_.dotted.front().name),
            "put all fields into the JSON");
      return;
    }
    if (argument_.json.empty()) return;
    config_ = ParseJson(argument_.json.back());
    if (config_.is_object()) return;
    const bool unquoted = argument_.json.back().starts_with('{') &&
                          argument_.json.back().find('"') == std::string::npos;
    Add(FindingId::kConfigUnreadable, fmt::format("no JSON object: {}", argument_.json.back()),
        unquoted
            ? R"(the shell took its quotes: write --profiler-config '{"profiler":"torch",...}')"
            : R"(write it like '{"profiler":"torch","torch_profiler_dir":"/path"}')");
    config_ = Json::object();
  }

  void CheckKeys() {
    const bool dotted = !argument_.dotted.empty();
    for (const auto& [key, value] : config_.items()) {
      const std::string_view rule = Rule("config." + key);
      if (rule.empty()) {
        UnknownKey(key);
      } else if (const std::string wanted = Wanted(rule, value, dotted); !wanted.empty()) {
        Add(FindingId::kConfigUnreadable,
            fmt::format("{} is {}, but must be {}", key, Text(value), wanted),
            "correct it: vLLM does not start");
      }
    }
  }

  void UnknownKey(const std::string& key) {
    std::vector<std::string> known;
    const std::vector<std::string> ever = RuleKeys("vllm", "config.");
    std::ranges::copy_if(ever, std::back_inserter(known),
                         [&](const std::string& name) { return !Rule("config." + name).empty(); });
    const bool of_others = std::ranges::find(ever, key) != ever.end();
    const std::string near = of_others ? "" : Closest(key, known);
    Add(FindingId::kConfigKeyUnknown,
        fmt::format("{} does not know the key {}{}, and does not start with it", plan_.Name(), key,
                    of_others ? ", which other versions do" : ""),
        near.empty() ? "leave it out" : fmt::format("did you mean {}?", near));
  }

  bool IsSet(const char* key) const {
    const auto found = config_.find(key);
    if (found == config_.end() || found->is_null()) return false;
    const std::string_view rule = Rule(fmt::format("config.{}", key));
    return rule == "text" ? *found != "" : rule != "flag" || IsTrue(*found);
  }

  // Checks the rules of vLLM's class ProfilerConfig.
  void CheckContradictions() {
    const std::string profiler =
        config_.value("profiler", Json()).is_string() ? config_["profiler"].get<std::string>() : "";
    const auto only_with = [&](const char* key, const char* which, auto... defaults) {
      if (!IsSet(key) || profiler == which || ((config_[key] == defaults) || ...)) return;
      Add(FindingId::kConfigContradicts,
          fmt::format("{} needs \"profiler\":\"{}\"{}: vLLM does not start", key, which,
                      profiler.empty() ? "" : fmt::format(", not {}", profiler)),
          fmt::format("add \"profiler\":\"{}\", or leave {} out", which, key));
    };
    only_with("torch_profiler_dir", "torch");
    only_with("torch_profiler_activities", "torch");
    only_with("capture_torch_profiler", "torch");
    only_with("proton_profiler_dir", "proton");
    only_with("proton_context", "proton", "shadow");
    only_with("proton_data", "proton", "tree");
    only_with("proton_backend", "proton");
    only_with("proton_mode", "proton");
    only_with("proton_hook", "proton");
    only_with("proton_output_format", "proton");
    only_with("proton_graph_attribution", "proton");
    // Until vLLM 0.15 the variable can give the folder.
    const bool by_variable = Rule("variable.VLLM_TORCH_PROFILER_DIR") == "text" &&
                             plan_.Variable("VLLM_TORCH_PROFILER_DIR").has_value();
    for (const char* which : {"torch", "proton"}) {
      const std::string folder = fmt::format("{}_profiler_dir", which);
      if (profiler == which && !IsSet(folder.c_str()) && !by_variable)
        Add(FindingId::kConfigContradicts,
            fmt::format("\"profiler\":\"{}\" needs {}: vLLM does not start", which, folder),
            fmt::format("add \"{}\":\"/path\"", folder));
    }
    if (const auto list = config_.find("torch_profiler_activities");
        list != config_.end() && list->is_array())
      if (std::set<Json>(list->begin(), list->end()).size() < list->size())
        Add(FindingId::kConfigContradicts,
            "torch_profiler_activities names one twice: vLLM does not start", "name each once");
  }

  const LaunchPlan& plan_;
  std::vector<Finding>& findings_;
  ProfilerArgument argument_;
  Json config_ = Json::object();
  bool refused_ = false;
};

}  // namespace

bool CheckProfilerConfig(const LaunchPlan& plan, std::vector<Finding>& findings) {
  return ProfilerConfigChecks(plan, findings).Run();
}

}  // namespace tacho
