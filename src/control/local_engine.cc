#include "control/local_engine.h"

#include <algorithm>

#include "control/port_owner.h"
#include "net/url.h"

namespace tacho {

std::vector<int64_t> LocalProcesses(const Worker& worker) {
  Result<Url> url = ParseUrl(worker.url);
  if (!url || !url->IsLoopback()) return {};
  std::vector<int64_t> listeners = PidsListeningOn(url->port);
  return listeners.empty() ? listeners : ProcessTree(listeners);
}

bool AsksDaemon(const std::vector<int64_t>& pids) {
  return std::any_of(pids.begin(), pids.end(),
                     [](int64_t pid) { return EnvironmentOf(pid, "KINETO_USE_DAEMON") == "1"; });
}

std::string DaemonSocketFolder(const std::vector<int64_t>& pids) {
  for (int64_t pid : pids)
    if (std::optional<std::string> folder = EnvironmentOf(pid, "KINETO_IPC_SOCKET_DIR"))
      return *folder;
  return "";
}

}  // namespace tacho
