#include "session/daemon/daemon_driver.h"

#include <fmt/format.h>

#include "control/live/local_engine.h"
#include "control/version.h"
#include "session/daemon/daemon_folder.h"
#include "session/daemon/daemon_session.h"

namespace tacho {

Checked<void> DaemonDriver::Check(RecordedWorker& worker, const std::string& folder_in_run,
                                  std::vector<Finding>&, const std::stop_token&) {
  const std::string& url = worker.worker.url;
  if (!worker.facts.profiler.has_daemon)
    return tl::unexpected(
        Finding{FindingId::kDaemonOff, url,
                "no process of it on this host was started with KINETO_USE_DAEMON=1"});
  if (const auto fields = CheckFields("daemon", "", worker.profile); !fields)
    return tl::unexpected(FindingOf(fields.error().WithContext(url), url));
  worker.folder = folder_in_run;
  worker.written_at = DaemonFolderParent(worker.expectation.pids);
  // With another socket folder Kineto would end the engine's process (KinetoDaemon::Listen).
  const std::string looks_in = DaemonSocketFolder(worker.expectation.pids);
  if (!options_.socket_folder.empty() && options_.socket_folder != looks_in)
    return tl::unexpected(Finding{
        FindingId::kRequestDoesNotFit, url,
        fmt::format(
            "--daemon-socket {} is not, to the letter, its KINETO_IPC_SOCKET_DIR ({}): Kineto "
            "ends a process that gets an answer from another name",
            options_.socket_folder, looks_in.empty() ? "not set" : looks_in),
        "leave --daemon-socket out: tacho takes the engine's own"});
  if (options_.profile.steps || options_.window_requests)
    return tl::unexpected(Finding{
        FindingId::kRequestDoesNotFit, url, "a window by Kineto's daemon ends by time alone",
        fmt::format("give --duration TIME instead of {}, or {} and record by HTTP",
                    options_.profile.steps ? "--steps" : "--requests",
                    EngineRule(worker.facts.kind, worker.facts.version, "enable"))});
  worker.expectation.steps_named = false;
  worker.expectation.idle_processes_write = true;
  worker.expectation.why_no_file =
      Finding{FindingId::kDaemonNotAsked, "",
              "no file of this rank: its process never asked Kineto's daemon (started without "
              "KINETO_USE_DAEMON=1, or it hangs), or it died"};
  return {};
}

std::unique_ptr<DriverWindow> DaemonDriver::Open(HttpClient&, RecordObserver& observer,
                                                 Recording& recording) {
  return std::make_unique<DaemonSession>(options_, observer, recording);
}

}  // namespace tacho
