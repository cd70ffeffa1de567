#include "control/local_engine.h"

#include <fmt/format.h>

#include <filesystem>

#include "control/engine_answers.h"
#include "control/port_owner.h"
#include "control/version.h"
#include "control/vllm_command_line.h"
#include "net/url.h"

namespace tacho {

std::vector<int64_t> LocalProcesses(const Worker& worker) {
  Result<Url> url = ParseUrl(worker.url);
  if (!url || !url->IsLoopback()) return {};
  std::vector<int64_t> listeners = PidsListeningOn(url->port);
  return listeners.empty() ? listeners : ProcessTree(listeners);
}

std::string DaemonSocketFolder(const std::vector<int64_t>& pids) {
  for (int64_t pid : pids)
    if (std::optional<std::string> folder = EnvironmentOf(pid, "KINETO_IPC_SOCKET_DIR"))
      return *folder;
  return "";
}

void AddLocalFacts(const std::vector<int64_t>& pids, EngineFacts& facts) {
  if (facts.instance.empty() && !pids.empty())
    facts.instance = fmt::format("pid:{} {}", pids[0], StartTicksOf(pids[0]));
  for (int64_t pid : pids) {
    facts.profiler.has_daemon |= EnvironmentOf(pid, "KINETO_USE_DAEMON") == "1";
    if (facts.kind != EngineKind::kVllm) continue;
    const std::string config = ProfilerConfigOfProcess(pid);
    ReadProfilerConfig(config, facts.profiler);
    if (!config.empty() && !facts.profiler.with_stack)
      facts.profiler.with_stack = EngineRule(facts.kind, facts.version, "stacks") == "yes";
  }
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

}  // namespace tacho
