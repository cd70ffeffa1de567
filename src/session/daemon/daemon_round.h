#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/daemon/kineto_daemon.h"
#include "session/daemon/daemon_folder.h"
#include "session/files/trace_folder.h"

namespace tacho {

// One window that processes were asked to trace through Kineto's daemon protocol, and what each
// process did, as its polls of the daemon and its files show.
class DaemonRound {
 public:
  using Askers = std::map<size_t, std::vector<int64_t>>;  // processes by the index of their worker
  using Places = std::map<size_t, DaemonPlace>;           // for the same workers

  DaemonRound() = default;
  // All processes get `trace`, each with the folder of its worker.
  DaemonRound(Askers askers, Places places, DaemonTrace trace);
  // Requests the window from all processes through `daemon`. It begins `lead_ms` after the last
  // process will have polled.
  void Ask(KinetoDaemon& daemon, int64_t lead_ms);

  const Askers& askers() const { return askers_; }
  const std::vector<int64_t>& told() const { return told_; }  // all processes
  const DaemonPlace& PlaceOf(size_t worker) const { return places_.at(worker); }
  std::string ConfigText() const;  // the request as Kineto reads it; once for each folder
  int64_t start_unix_ms() const { return trace_.start_unix_ms; }
  int64_t begin_ns() const { return begin_ns_; }  // CLOCK_MONOTONIC
  int64_t end_ns() const { return begin_ns_ + trace_.duration_ms * 1'000'000; }

  // The file that the process was asked to write.
  std::string FileOf(int64_t pid) const;
  // The file that the process left of this window, perhaps still under its temporary name (".tmp"):
  // FileOf or, if Kineto did not take the folder, Kineto's own file. "": none.
  std::string LeftBy(int64_t pid) const;
  // Whether Kineto in this process did not take the folder.
  bool Refused(int64_t pid) const;
  // The files of this window so far, by path, of all processes that were asked.
  FolderState Files() const;

  // Drops all other processes: they did not get the request.
  void KeepOnly(const std::vector<int64_t>& pids);
  // Notes which processes begin. Call it repeatedly from Ask to the end of the window.
  void Look(const KinetoDaemon& daemon, const FolderState& folder);
  // Processes that are alive but did not begin: they polled the daemon during the window or after
  // it, and were idle.
  std::vector<int64_t> Late(const KinetoDaemon& daemon, const FolderState& folder) const;
  // The number of processes whose files are whole.
  size_t Whole() const;
  // Whether a process was still busy with its trace at its last poll.
  bool Writes(int64_t pid, const KinetoDaemon& daemon) const;
  // The number of processes whose traces are there, or will be. A file without an operator does not
  // count: an engine's API server writes a whole file as well. Reads the files up to the first
  // operator.
  size_t Traces(const KinetoDaemon& daemon) const;
  // Ends the window: what the processes do from now on belongs to the next one. From now on Late
  // returns the same, and Writes is false for all. Moves Kineto's own files away, because their
  // names are the same in all windows.
  void Close(const KinetoDaemon& daemon, const FolderState& folder);
  void RemoveFiles() const;

 private:
  bool TakesPart(int64_t pid, const FolderState& folder) const;
  size_t WorkerOf(int64_t pid) const { return worker_of_.at(pid); }
  std::optional<FileState> OwnFile(int64_t pid, const std::string& ending) const;

  Askers askers_;
  Places places_;
  std::map<int64_t, size_t> worker_of_;
  std::vector<int64_t> told_;
  DaemonTrace trace_;
  int64_t asked_unix_ns_ = 0, begin_ns_ = 0;
  std::set<int64_t> moved_;  // processes whose files were Kineto's own and were moved away
  std::set<int64_t> began_;  // processes whose polls or files show that they began
  std::optional<std::vector<int64_t>> late_at_close_;
};

bool IsAmong(int64_t pid, const std::vector<int64_t>& pids);
// False for a zombie too.
bool ProcessLives(int64_t pid);

}  // namespace tacho
