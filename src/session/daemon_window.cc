#include "session/daemon_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "base/time.h"
#include "control/kineto_daemon.h"
#include "control/local_engine.h"
#include "net/clock.h"
#include "session/flush_progress.h"
#include "session/trace_folder.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFirstQuestionNs = 12'000 * kNsPerMs;  // every process asks each 5 s; some sleep
constexpr std::chrono::milliseconds kLookAtTraces{200};

bool Contains(const std::vector<int64_t>& pids, int64_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

// The processes that asked, by the index of their worker.
std::map<size_t, std::vector<int64_t>> Askers(const KinetoDaemon& daemon,
                                              const std::vector<RecordedWorker>& workers) {
  std::map<size_t, std::vector<int64_t>> askers;
  for (const DaemonProcess& process : daemon.Processes()) {
    for (size_t i = 0; i < workers.size(); ++i) {
      const std::vector<int64_t>& pids = workers[i].expectation.pids;
      bool own = Contains(pids, process.pid) ||
                 std::any_of(process.ancestors.begin(), process.ancestors.end(),
                             [&](int64_t pid) { return Contains(pids, pid); });
      if (own) askers[i].push_back(process.pid);
    }
  }
  return askers;
}

// Whether one of them said so with its last question, and has asked lately: it may have died.
bool Tracing(const KinetoDaemon& daemon, const std::vector<int64_t>& pids, int64_t now_ns) {
  const std::vector<DaemonProcess> processes = daemon.Processes();
  return std::any_of(processes.begin(), processes.end(), [&](const DaemonProcess& process) {
    return process.tracing && now_ns - process.asked_ns < 4 * KinetoDaemon::kPollMs * kNsPerMs &&
           std::find(pids.begin(), pids.end(), process.pid) != pids.end();
  });
}

}  // namespace

DaemonWindow TakeDaemonWindow(
    std::vector<RecordedWorker>& workers, const DaemonWindowOptions& options, std::stop_token stop,
    const std::function<void(std::string_view, const std::string&)>& progress) {
  DaemonWindow window;
  std::string socket_folder = options.socket_folder;
  if (socket_folder.empty()) socket_folder = DaemonSocketFolder(workers.front().expectation.pids);
  Result<std::unique_ptr<KinetoDaemon>> daemon = KinetoDaemon::Listen(socket_folder);
  if (!daemon) {
    window.troubles.push_back(daemon.error().message);
    return window;
  }
  // All processes of an engine ask within one period of each other: a period without a new one
  // after the first tells that all are there.
  int64_t begin = MonotonicNs(), changed = begin;
  size_t known = 0;
  std::map<size_t, std::vector<int64_t>> askers;
  while (!stop.stop_requested()) {
    askers = Askers(**daemon, workers);
    size_t count = 0;
    for (const auto& [worker, pids] : askers) count += pids.size();
    if (count != known) changed = MonotonicNs();
    known = count;
    bool all = askers.size() == workers.size();
    int64_t now = MonotonicNs();
    if (all && now - changed > (KinetoDaemon::kPollMs + 500) * kNsPerMs) break;
    if (now - begin > kFirstQuestionNs + KinetoDaemon::kPollMs * kNsPerMs) break;
    progress("rendezvous", fmt::format("{} processes have asked", count));
    std::this_thread::sleep_for(kLookAtTraces);
  }
  std::vector<int64_t> everybody;
  for (size_t i = 0; i < workers.size(); ++i) {
    if (!askers.contains(i)) {
      workers[i].expectation.trouble =
          "no process of it asked the daemon: it looks for another socket "
          "(KINETO_IPC_SOCKET_DIR), or PyTorch is not loaded yet";
      window.troubles.push_back(workers[i].worker.url + ": " + workers[i].expectation.trouble);
    }
  }
  for (const auto& [worker, pids] : askers)
    everybody.insert(everybody.end(), pids.begin(), pids.end());
  window.processes = everybody.size();
  if (everybody.empty() || stop.stop_requested()) return window;

  // One folder for all: a worker's own files are told by pid, and brought to its folder.
  DaemonTrace trace;
  trace.folder = fs::path(workers.front().folder).parent_path().string();
  trace.stem = "kineto";
  trace.start_unix_ms = (*daemon)->AllToldByUnixMs(everybody) + KinetoDaemon::kLeadMs;
  trace.duration_ms = options.duration_ns / kNsPerMs;
  trace.with_stack = options.with_stack;
  trace.record_shapes = options.record_shapes;
  (*daemon)->Request(everybody, trace);
  ClockPair clocks = ReadClocks();
  window.begin_ns = clocks.monotonic_ns + trace.start_unix_ms * kNsPerMs - clocks.unix_ns;
  window.end_ns = window.begin_ns + options.duration_ns;
  for (RecordedWorker& worker : workers) {
    worker.expectation.start_unix_ns = trace.start_unix_ms * kNsPerMs;
    worker.expectation.stop_unix_ns = trace.start_unix_ms * kNsPerMs + options.duration_ns;
  }
  // Until the window is over, then until the files no longer grow.
  FolderState last;
  changed = MonotonicNs();
  while (!stop.stop_requested()) {
    FolderState now = ReadFolder(trace.folder);
    if (now != last) changed = MonotonicNs();
    last = now;
    uint64_t bytes = 0;
    for (const auto& [path, state] : now) bytes += state.bytes;
    size_t whole =
        static_cast<size_t>(std::count_if(everybody.begin(), everybody.end(), [&](int64_t pid) {
          return LooksWhole(trace.FileOf(pid));
        }));
    int64_t time = MonotonicNs();
    progress(time < window.end_ns ? "profile" : "flush",
             time < window.begin_ns
                 ? "begins in " + SecondsText(window.begin_ns - time)
                 : fmt::format("{} of {} files, {:.1f} MB", whole, everybody.size(),
                               static_cast<double>(bytes) / 1e6));
    if (time > window.end_ns && whole == everybody.size()) break;
    // Processes without events write nothing at all, and Kineto builds a large file in memory
    // before its first byte; while it does, the process goes on asking and says that it traces.
    if (Tracing(**daemon, everybody, time)) changed = time;
    int64_t quiet = (whole > 0 ? 10'000 : 60'000) * kNsPerMs;
    if (time > window.end_ns && time - std::max(changed, window.end_ns) > quiet) break;
    if (options.patience.count() > 0 && time > window.end_ns + options.patience.count() * kNsPerMs)
      break;
    std::this_thread::sleep_for(kLookAtTraces);
  }
  for (const auto& [index, pids] : askers) {
    std::vector<std::string> files;
    std::error_code ignored;
    for (int64_t pid : pids) {
      std::string file = trace.FileOf(pid);
      if (!fs::exists(file, ignored)) file += ".tmp";
      if (fs::exists(file, ignored) && fs::file_size(file, ignored) > 0) files.push_back(file);
    }
    Result<std::vector<std::string>> brought = BringFiles(files, workers[index].folder);
    if (!brought) {
      window.troubles.push_back(brought.error().message);
      continue;
    }
    for (const std::string& file : files) fs::remove(file, ignored);
    workers[index].expectation.files = *brought;
    if (brought->empty())
      workers[index].expectation.trouble =
          "its processes were told and wrote nothing: they died, or their disk is full";
  }
  // A file of nothing is what a process leaves that was told and had no event.
  std::error_code ignored;
  for (int64_t pid : everybody) {
    std::string file = trace.FileOf(pid) + ".tmp";
    if (fs::exists(file, ignored) && fs::file_size(file, ignored) == 0) fs::remove(file, ignored);
  }
  return window;
}

}  // namespace tacho
