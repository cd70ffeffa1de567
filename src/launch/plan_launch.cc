#include "launch/plan_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "base/parse_number.h"
#include "base/secret_names.h"
#include "base/secret_text.h"
#include "base/secrets.h"
#include "base/words.h"
#include "control/engine_folder.h"
#include "control/engine_type.h"
#include "control/launch/command_options.h"
#include "control/live/engine_answers.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"
#include "net/url.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTraces = "{traces}";
constexpr std::string_view kLoopback = "127.0.0.1";
constexpr std::string_view kHidden = "'***'";  // in quotes, because a shell would expand the stars
// vLLM and SGLang also accept abbreviations of these options.
constexpr std::array<std::string_view, 4> kKeyOptions{"--api-key", "--hf-token", "--admin-api-key",
                                                      "--ssl-keyfile-password"};

std::string_view NameOfSetting(std::string_view setting) {
  return setting.substr(0, setting.find('='));
}

bool Sets(const std::vector<std::string>& environment, std::string_view name) {
  return std::ranges::any_of(
      environment, [&](const std::string& setting) { return NameOfSetting(setting) == name; });
}

// Python's parsers accept the beginning of an option, and vLLM's accepts '_' for '-'.
bool IsKeyOption(std::string_view option) {
  constexpr size_t kShortest = 6;  // "--hf-t"
  if (OptionNamed(option) != Option::kNone) return true;
  std::string name(option);
  std::ranges::replace(name, '_', '-');
  return name.size() >= kShortest && name != "--ssl-keyfile" &&
         std::ranges::any_of(kKeyOptions,
                             [&](std::string_view key) { return key.starts_with(name); });
}

bool IsVariable(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; });
}

bool IsUrl(std::string_view text) {
  const size_t scheme = text.find("://");
  return scheme != text.npos && text.substr(0, scheme).find_first_of("/=\"' {") == text.npos;
}

// The preset and the presets that it extends; the weakest first.
std::vector<std::string> ChainOf(const std::string& preset) {
  if (preset == "detailed") return {"light", "detailed"};
  if (preset == "deep") return {"light", "detailed", "deep"};
  if (preset == "sources") return {"light", "detailed", "deep", "sources"};
  return {preset};
}

// The rules of a preset of one kind ("env", "config", "arg"): keys and values, in the order of the
// rules.
using PresetValues = std::vector<std::pair<std::string, std::string>>;

PresetValues ValuesOf(const PlannedLaunch& plan, const std::string& kind,
                      const std::string& traces) {
  PresetValues values;
  for (const std::string& preset : ChainOf(plan.preset)) {
    const std::string prefix = fmt::format("preset.{}.{}.", preset, kind);
    for (const std::string& key : RuleKeys(NameOf(plan.kind), prefix)) {
      const std::string_view rule = EngineRule(plan.kind, plan.version, prefix + key);
      if (rule.empty()) continue;
      const std::string value = rule == kTraces ? traces : std::string(rule);
      const auto known = std::ranges::find(values, key, &PresetValues::value_type::first);
      if (known != values.end()) {
        known->second = value;
      } else {
        values.emplace_back(key, value);
      }
    }
  }
  return values;
}

// The number of GPUs that one server uses.
size_t GpusOf(const PlannedLaunch& plan, const std::vector<std::string>& words) {
  const LaunchWords& engine = *TypeOf(plan.kind).Launch();
  std::vector<std::vector<std::string_view>> sizes{engine.tensor_parallel,
                                                   engine.pipeline_parallel};
  if (engine.shares_gpus.empty() || std::ranges::find(words, engine.shares_gpus) == words.end())
    sizes.push_back(engine.data_parallel);
  size_t gpus = 1;
  for (const std::vector<std::string_view>& names : sizes)
    gpus *= std::max<size_t>(
        1, ParseWhole<size_t>(OptionValue(words, names).value_or("1")).value_or(1));
  return gpus;
}

// The word in shell syntax, with secrets hidden.
std::string ShownWord(std::string_view word) {
  if (IsUrl(word)) return ShellWord(ShownUrl(word));
  const std::string_view name = NameOfSetting(word);
  const bool is_option = name.starts_with('-');
  if (name.size() == word.size() || !(is_option || IsVariable(name))) {
    std::string shown(word);
    BlankSecrets(shown);
    return ShellWord(shown);
  }
  if (is_option ? IsKeyOption(name) : MayHoldSecret(name))
    return fmt::format("{}={}", name, kHidden);
  // The value of an option may itself be a setting.
  return fmt::format("{}={}", ShellWord(name), ShownWord(word.substr(name.size() + 1)));
}

using Words = std::vector<std::string>;

// All options that the engine reads. Those of the --config file come first, because the last value
// of an option counts.
Words AfterFile(const Words& file, const Words& words) {
  Words all = file;
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

void SetOption(const Words& file, Words& words, const std::string& name, const std::string& value) {
  if (OptionValue(words, {name}) || OptionValue(file, {name})) return;
  words.push_back(name);
  words.push_back(value);
}

void SetFlag(const Words& file, Words& words, const std::string& name) {
  const Words read = AfterFile(file, words);
  if (std::ranges::find(read, name) == read.end()) words.push_back(name);
}

// Adds the preset to the user's profiler configuration. If that is in the --config file, first
// copies it to the command line, because a --profiler-config on the command line hides the file's.
Words WithPreset(const Words& file, Words words, const PresetValues& values) {
  const ProfilerArgument filed = ProfilerArgumentOf(file);
  if (!values.empty() && !filed.lacks_value && ProfilerArgumentOf(words).empty()) {
    if (!filed.json.empty()) words.insert(words.end(), {"--profiler-config", filed.json.back()});
    for (const CommandOption& option : filed.dotted)
      words.push_back(fmt::format("--profiler-config.{}={}", option.name, *option.value));
  }
  return WithProfilerConfig(words, values);
}

// The last value of the variable `name`; "" if it is not set.
std::string SettingOf(const std::vector<std::string>& environment, std::string_view name) {
  for (auto setting = environment.rbegin(); setting != environment.rend(); ++setting)
    if (NameOfSetting(*setting) == name)
      return setting->substr(std::min(setting->size(), name.size() + 1));
  return "";
}

// The key that the servers require. vLLM's key guards only /v1; SGLang's guards every route except
// /health and /metrics. If SGLang has only an admin key, that key guards its profiler.
std::string ApiKeyOf(EngineKind kind, const Words& words,
                     const std::vector<std::string>& environment) {
  const LaunchWords& engine = *TypeOf(kind).Launch();
  std::string key, only_key;
  for (const CommandOption& option : OptionsOf(words)) {
    if (option.name == "api-key") key = option.value.value_or("");
    if (option.name == engine.only_key_option) only_key = option.value.value_or("");
  }
  if (!key.empty()) return key;
  return engine.key_variable.empty() ? only_key
                                     : SettingOf(environment, std::string(engine.key_variable));
}

// Sets the replica's own port, in place of the port that the user gave for the engine.
void SetPort(std::vector<std::string>& words, uint16_t port) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--port" && i + 1 < words.size()) words[i + 1] = std::to_string(port);
    if (words[i].starts_with("--port=")) words[i] = fmt::format("--port={}", port);
  }
  SetOption({}, words, "--port", std::to_string(port));
}

std::string UrlOf(const std::vector<std::string>& words, uint16_t port) {
  std::string host = OptionValue(words, {"--host"}).value_or(std::string(kLoopback));
  if (host == "0.0.0.0" || host == "::" || host.empty()) host = kLoopback;
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}", v6 ? "[" + host + "]" : host, port);
}

// The trace folder that the user's own words or environment name; "" if they name none.
std::string FolderNamedBy(const PlannedLaunch& plan, const std::vector<std::string>& words,
                          const std::vector<std::string>& environment) {
  const EngineType& engine = TypeOf(plan.kind);
  std::string folder = engine.FolderInWords(words);
  const std::string variable(engine.Launch()->folder_variable);
  // If the rules do not mention the variable, this version reads it.
  const std::string_view how = EngineRule(plan.kind, plan.version, "variable." + variable);
  const bool is_read = how.empty() || how == "text";
  if (is_read && folder.empty()) {
    for (const std::string& setting : environment)
      if (NameOfSetting(setting) == variable) folder = setting.substr(variable.size() + 1);
  }
  return folder;
}

PlannedServer PlanServer(const LaunchRequest& request, const EngineProgram& program,
                         const LaunchPlace& place, const PlannedLaunch& plan, size_t index) {
  PlannedServer server;
  const std::string_view kind = NameOf(plan.kind);
  server.name = request.replicas == 1 ? std::string(kind) : fmt::format("{}-{}", kind, index + 1);
  server.port = place.ports.at(index);
  const std::string traces = place.folder + "/traces";
  server.traces = request.replicas == 1 ? traces : fmt::format("{}/w{}", traces, index);
  server.log = fmt::format("{}/logs/{}.log", place.folder, server.name);

  const Words& file = program.file_options;
  Words words = program.command;
  SetOption(file, words, "--host", std::string(kLoopback));
  SetPort(words, server.port);
  for (const auto& [name, value] : ValuesOf(plan, "arg", server.traces)) {
    if (value == "yes") {
      SetFlag(file, words, name);
    } else {
      SetOption(file, words, name, value);
    }
  }
  if (request.log_requests)
    if (const auto name = EngineRule(plan.kind, plan.version, "log_requests"); !name.empty())
      SetFlag(file, words, std::string(name));
  words = WithPreset(file, std::move(words), ValuesOf(plan, "config", server.traces));
  const Words read = AfterFile(file, words);
  server.url = UrlOf(read, server.port);

  server.environment = request.environment;
  for (const auto& [name, value] : ValuesOf(plan, "env", server.traces))
    if (!Sets(request.environment, name) && !Sets(place.environment, name))
      server.environment.push_back(name + "=" + value);
  // The server's own settings come last, so that they win over those of this process.
  std::vector<std::string> environment = place.environment;
  environment.insert(environment.end(), server.environment.begin(), server.environment.end());
  std::string home;
  for (const std::string& setting : environment)
    if (NameOfSetting(setting) == "HOME") home = setting.substr(setting.find('=') + 1);
  if (const std::string named = FolderNamedBy(plan, read, environment); !named.empty())
    server.traces = EngineFolder(named, place.working, home);
  if (request.replicas > 1 && !place.gpus.empty()) {
    const size_t gpus = GpusOf(plan, read);
    const auto first = place.gpus.begin() + static_cast<std::ptrdiff_t>(index * gpus);
    // Replaces the user's setting, which names the GPUs for all replicas together.
    std::erase_if(server.environment, [](const std::string& setting) {
      return NameOfSetting(setting) == kVisibleGpus;
    });
    server.environment.push_back(fmt::format(
        "{}={}", kVisibleGpus, fmt::join(first, first + static_cast<std::ptrdiff_t>(gpus), ",")));
  }
  server.command = place.nsys;
  server.command.insert(server.command.end(), words.begin(), words.end());
  return server;
}

PlannedServer PlanRouter(const LaunchPlace& place, const PlannedLaunch& plan) {
  const LaunchWords& engine = *TypeOf(plan.kind).Launch();
  const size_t first = plan.servers.size();
  PlannedServer router;
  router.name = engine.router;
  router.port = place.ports.at(first);
  router.url = fmt::format("http://{}:{}", kLoopback, router.port);
  router.log = fmt::format("{}/logs/{}.log", place.folder, router.name);
  const std::string host(kLoopback);
  router.command = {place.router_program};
  router.command.insert(router.command.end(), engine.router_begin.begin(),
                        engine.router_begin.end());
  router.command.insert(
      router.command.end(),
      {"--host", host, "--port", std::to_string(router.port), "--prometheus-host", host,
       "--prometheus-port", std::to_string(place.ports.at(first + 1)), "--policy", "round_robin"});
  router.command.insert(router.command.end(), engine.router_options.begin(),
                        engine.router_options.end());
  router.command.emplace_back("--worker-urls");
  for (const PlannedServer& server : plan.servers) router.command.push_back(server.url);
  return router;
}

}  // namespace

std::vector<std::string> PlannedLaunch::targets() const {
  if (router) return {router->url};
  std::vector<std::string> urls;
  for (const PlannedServer& server : servers) urls.push_back(server.url);
  return urls;
}

const std::vector<PresetWords>& Presets() {
  static const std::vector<PresetWords> presets = {
      {"light", "steps with a bound, without stacks, shapes or a table of averages"},
      {"detailed", "with shapes, memory and scopes: about twice the bytes"},
      {"deep", "with Python stacks and flops too: some ten times the bytes, and slower steps"},
      {"sources",
       "deep, and without graphs, so that the stacks name the code that launches each kernel: for "
       "`tacho analyze --stacks-from`"},
      {"nsys", "under `nsys launch`, for `tacho record --via nsys`"}};
  return presets;
}

Result<std::optional<uint16_t>> AskedPort(const LaunchRequest& request,
                                          const EngineProgram& program) {
  const std::optional<std::string> text =
      OptionValue(AfterFile(program.file_options, program.command), {"--port"});
  if (!text) return request.port;
  const std::optional<uint16_t> port = ParseWhole<uint16_t>(*text);
  if (!port || *port == 0)
    return Fail(ErrorKind::kUsage,
                fmt::format("--port {}: a port is a number from 1 to 65535", *text));
  if (request.port && *request.port != *port)
    return Fail(ErrorKind::kUsage,
                fmt::format("--port is {} for tacho and {} for the engine: give one of them",
                            *request.port, *port));
  return port;
}

Result<PlannedLaunch> PlanLaunch(const LaunchRequest& request, const EngineProgram& program,
                                 const LaunchPlace& place) {
  PlannedLaunch plan;
  plan.kind = request.kind;
  plan.version = program.version;
  plan.preset = request.preset;
  const Words read = AfterFile(program.file_options, program.command);
  for (const CommandOption& option : OptionsOf(read))
    if (option.name == "uds" || option.name == "headless" || option.name == "ssl-certfile" ||
        option.name == "ssl-keyfile")
      return Fail(
          ErrorKind::kUsage,
          fmt::format("--{}: tacho launch reaches the engine by plain HTTP at a port: leave "
                      "it out, or start the engine yourself",
                      option.name));
  const size_t gpus = GpusOf(plan, read) * request.replicas;
  if (request.replicas > 1 && !place.gpus.empty() && gpus > place.gpus.size())
    return Fail(ErrorKind::kUsage, fmt::format("{} replicas need {} GPUs, and {} can be used",
                                               request.replicas, gpus, place.gpus.size()));
  for (size_t i = 0; i < request.replicas; ++i)
    plan.servers.push_back(PlanServer(request, program, place, plan, i));
  if (request.replicas > 1 && !place.router_program.empty()) plan.router = PlanRouter(place, plan);
  plan.record_options =
      EngineRule(plan.kind, plan.version, fmt::format("preset.{}.record", plan.preset));
  plan.api_key = ApiKeyOf(plan.kind, read, AfterFile(place.environment, request.environment));
  return plan;
}

std::string ShownWords(const std::vector<std::string>& words) {
  std::string line;
  bool is_key = false;
  for (const std::string& word : words) {
    const bool is_option = word.starts_with('-');
    is_key = is_key && !is_option;
    if (!line.empty()) line += ' ';
    line += is_key ? kHidden : ShownWord(word);
    if (is_option) is_key = IsKeyOption(word);
  }
  return line;
}

std::string ShellLine(const PlannedServer& server) {
  std::string line;
  for (const std::string& setting : server.environment) line += ShownWord(setting) + " ";
  return line + ShownWords(server.command);
}

}  // namespace tacho
