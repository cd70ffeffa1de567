#include "session/nsys/nsys_driver.h"

#include <fmt/format.h>

#include "control/live/local_engine.h"
#include "control/live/port_owner.h"
#include "ingest/nsys_sqlite/nsys_program.h"
#include "session/nsys/nsys_collection.h"
#include "session/plan/preflight_folders.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

// Selects one of the nsys sessions on this host: the one that the user named, or the one that the
// worker's processes run in.
Checked<NsysSession> SessionOf(const RecordedWorker& worker, const std::string& asked,
                               const std::vector<NsysSession>& sessions) {
  std::string id, launched, names;
  for (const int64_t pid : worker.expectation.pids) {
    if (id.empty()) id = EnvironmentOf(pid, "NSYS_PROFILING_SESSION_ID").value_or("");
    // Also looks at the environments of the parent processes, because vLLM's processes overwrite
    // their own with their process names.
    if (launched.empty()) launched = NsysSessionAbove(pid);
  }
  for (const NsysSession& session : sessions) {
    if (asked.empty() ? session.id == id || session.name == launched : session.name == asked)
      return session;
    names += (names.empty() ? "; those that run: " : ", ") + session.name;
  }
  if (names.empty()) names = "; none runs on this host";
  return tl::unexpected(
      Finding{FindingId::kNotUnderNsys, worker.worker.url,
              (!asked.empty() ? fmt::format("no session of nsys is called {}", asked)
               : worker.expectation.pids.empty()
                   ? "no process of it is seen on this host, so none of a session of nsys"
               : id.empty() && launched.empty()
                   ? "none of its processes runs under nsys launch"
                   : fmt::format("its session of nsys ({}) is not there any more",
                                 launched.empty() ? id : launched)) +
                  names});
}

}  // namespace

Result<std::unique_ptr<Driver>> NsysDriver::Make(const RecordOptions& options,
                                                 const std::stop_token& stop) {
  const std::optional<NsysProgram> program = FindNsys(stop);
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  if (!program)
    return tl::unexpected(ErrorOf({FindingId::kNsysMissing, "",
                                   "no nsys was found here (in PATH, /opt/nvidia and "
                                   "/usr/local/cuda*)",
                                   "install Nsight Systems, or add its folder to $PATH"}));
  NsysControl nsys(program->path, program->version);
  TACHO_ASSIGN_OR_RETURN(std::vector<NsysSession> sessions, nsys.Sessions());
  return std::make_unique<NsysDriver>(options, std::move(nsys), std::move(sessions));
}

Checked<void> NsysDriver::Check(RecordedWorker& worker, const std::string& folder_in_run,
                                std::vector<Finding>& findings, const std::stop_token&) {
  const std::string& url = worker.worker.url;
  if (!worker.profile.fields.empty())
    return tl::unexpected(Finding{
        FindingId::kRequestDoesNotFit, url,
        fmt::format("{}: nsys records what the engine was launched with, not what a start asks for",
                    worker.profile.fields.begin()->first),
        "leave it out; nsys launch -t chooses what is traced"});
  const Checked<NsysSession> session = SessionOf(worker, options_.nsys_session, sessions_);
  if (!session) return tl::unexpected(session.error());
  if (session->Records())
    return tl::unexpected(
        Finding{FindingId::kNsysRecords, url,
                fmt::format("somebody records in its session {} of nsys (it is in state {})",
                            session->name, session->state),
                "nsys stop --session=" + ShellWord(session->name)});
  if (worker.expectation.pids.empty())
    return tl::unexpected(Finding{FindingId::kNotUnderNsys, url,
                                  "its processes are not seen on this host, so tacho cannot tell "
                                  "which recorded processes are its own"});
  worker.nsys_session = session->name;
  worker.expectation.one_report = true;
  worker.expectation.why_no_file =
      Finding{FindingId::kNoFileOfRank, "",
              "the report holds nothing that a process of this rank did: no GPU work, no range "
              "(NVTX) and no call of the OS was traced in it",
              "launch the engine with nsys launch -t cuda,nvtx,osrt"};
  LookAtRoom(folder_in_run, findings);
  return {};
}

std::unique_ptr<DriverWindow> NsysDriver::Open(HttpClient&, RecordObserver& observer,
                                               Recording& recording) {
  return std::make_unique<NsysCollection>(nsys_, options_, observer, recording);
}

}  // namespace tacho
