#include "control/live/local_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/ancestors.h"
#include "base/parse_number.h"
#include "control/engine_type.h"
#include "control/launch/command_options.h"
#include "control/launch/launch_checks.h"
#include "control/live/engine_answers.h"
#include "control/live/port_owner.h"
#include "control/nsys/nsys_sessions.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"
#include "net/url.h"

namespace tacho {

std::vector<int64_t> LocalProcesses(const Worker& worker) {
  Result<Url> url = ParseUrl(worker.url);
  if (!url || !url->IsLoopback()) return {};
  std::vector<int64_t> listeners = PidsListeningOn(url->port);
  return listeners.empty() ? listeners : ProcessTree(listeners);
}

namespace {

// The value from the first process that still has the variable: vLLM's processes overwrite their
// environments with their process names.
std::string FirstValueOf(const std::vector<int64_t>& pids, std::string_view variable) {
  for (int64_t pid : pids)
    if (const std::optional<std::string> value = EnvironmentOf(pid, variable)) return *value;
  return "";
}

}  // namespace

std::string DaemonSocketFolder(const std::vector<int64_t>& pids) {
  return FirstValueOf(pids, "KINETO_IPC_SOCKET_DIR");
}

std::string DaemonTraceFolder(const std::vector<int64_t>& pids) {
  return FirstValueOf(pids, "KINETO_ONDEMAND_TRACE_DIR");
}

namespace {

// Both engines have these options.
void AddFormats(std::vector<std::string> words, EngineFacts& facts) {
  std::ranges::replace(words, "-q", "--quantization");
  for (const CommandOption& option : OptionsOf(words)) {
    for (const auto& [name, fact] : {std::pair("dtype", &facts.dtype),
                                     {"quantization", &facts.quantization},
                                     {"kv-cache-dtype", &facts.kv_cache_dtype}})
      if (option.name == name && option.value && (fact->empty() || *fact == "auto"))
        *fact = *option.value;
  }
}

}  // namespace

void AddLocalFacts(const std::vector<int64_t>& pids, EngineFacts& facts) {
  if (facts.instance.empty() && !pids.empty())
    facts.instance.process = fmt::format("{} {}", pids[0], StartTicksOf(pids[0]));
  // A process on this host uses this host's clock.
  if (!pids.empty()) facts.clock_offset_ns = facts.clock_error_ns = 0;
  for (int64_t pid : pids) {
    facts.profiler.has_daemon |= EnvironmentOf(pid, "KINETO_USE_DAEMON") == "1";
    facts.profiler.launched_by_nsys =
        facts.profiler.launched_by_nsys || !NsysSessionAbove(pid).empty();
    TypeOf(facts.kind).AddFactsOfProcess(pid, facts);
  }
  if (const auto command = CommandLineOf(pids)) AddFormats(command->words, facts);
}

std::string LogFileOf(const std::vector<int64_t>& pids) {
  namespace fs = std::filesystem;
  std::error_code failed;
  for (int64_t pid : pids)
    for (int stream : {2, 1}) {
      const fs::path path = fs::read_symlink(fmt::format("/proc/{}/fd/{}", pid, stream), failed);
      if (!failed && fs::is_regular_file(path, failed)) return path.string();
    }
  return "";
}

std::optional<LocalCommand> CommandLineOf(const std::vector<int64_t>& pids) {
  // "python3 -m vllm.entrypoints...": later words may be values of options.
  constexpr size_t kBegin = 3;
  std::vector<int64_t> candidates = pids;
  if (!pids.empty())
    for (const int64_t pid : AncestorsOf(pids.front())) candidates.push_back(pid);
  for (const int64_t pid : candidates) {
    LocalCommand command{.pid = pid, .words = WordsOf(pid), .environment = {}};
    std::vector<std::string> begin = command.words;
    begin.resize(std::min(begin.size(), kBegin));
    command.kind = EngineOf(begin);
    if (!IsKnown(command.kind)) continue;
    command.environment = SettingsOf(pid);
    return command;
  }
  return std::nullopt;
}

std::vector<Finding> CheckLaunchOf(const std::vector<int64_t>& pids, const EngineFacts& facts) {
  const auto command = CommandLineOf(pids);
  if (!command || command->kind != facts.kind) return {};
  return CheckLaunch(facts.kind, facts.version, command->words, command->environment);
}

std::vector<std::string> LocalEngineUrls() {
  constexpr size_t kMost = 64;
  std::set<uint16_t> found;
  for (const int64_t pid : AllPids()) {
    const std::vector<std::string> words = WordsOf(pid);
    const EngineKind kind = EngineOf(words);
    if (!IsKnown(kind)) continue;
    const std::vector<uint16_t> ports = PortsOf(pid);
    uint16_t asked = TypeOf(kind).Launch()->port;  // engines listen on several ports
    for (const CommandOption& option : OptionsOf(words))
      if (option.name == "port")
        asked = ParseWhole<uint16_t>(option.value.value_or("")).value_or(asked);
    if (std::ranges::find(ports, asked) != ports.end() && found.size() < kMost) found.insert(asked);
  }
  std::vector<std::string> urls;
  for (const uint16_t port : found) urls.push_back(fmt::format("http://127.0.0.1:{}", port));
  return urls;
}

}  // namespace tacho
