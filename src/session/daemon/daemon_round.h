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

// One window that tacho, as Kineto's daemon, asked processes to trace. Knows what each process did,
// from its polls of the daemon and from its files.
class DaemonRound {
 public:
  // Processes to ask, by the index of their worker.
  using Askers = std::map<size_t, std::vector<int64_t>>;
  using Places = std::map<size_t, DaemonPlace>;  // for the same workers

  DaemonRound() = default;
  // All processes get the request `trace`, each with the folder of its own worker.
  DaemonRound(Askers askers, Places places, DaemonTrace trace);
  // Sends the request to all processes through `daemon`. The window begins `lead_ms` after the time
  // by which every process should have polled.
  void Ask(KinetoDaemon& daemon, int64_t lead_ms);

  const Askers& askers() const { return askers_; }
  const std::vector<int64_t>& told() const { return told_; }  // all processes that got the request
  const DaemonPlace& PlaceOf(size_t worker) const { return places_.at(worker); }
  std::string ConfigText() const;  // the request as Kineto reads it, once for each folder
  int64_t start_unix_ms() const { return trace_.start_unix_ms; }
  int64_t begin_ns() const { return begin_ns_; }  // CLOCK_MONOTONIC
  int64_t end_ns() const { return begin_ns_ + trace_.duration_ms * 1'000'000; }

  // The file that the process was asked to write.
  std::string FileOf(int64_t pid) const;
  // The file of this window that the process left, perhaps still under its temporary name (".tmp"):
  // FileOf, or Kineto's own file if Kineto rejected the folder. "" if there is no file.
  std::string LeftBy(int64_t pid) const;
  // Whether the Kineto in this process rejected the folder.
  bool Refused(int64_t pid) const;
  // The files that all asked processes have written in this window so far, by path.
  FolderState Files() const;

  // Forgets all processes but `pids`: the others did not get the request.
  void KeepOnly(const std::vector<int64_t>& pids);
  // Notes which processes began to trace. Call it repeatedly between Ask and the window's end.
  void Look(const KinetoDaemon& daemon, const FolderState& folder);
  // The processes that got the request too late to begin: since the window's start they polled the
  // daemon and reported that they do not trace.
  std::vector<int64_t> Late(const KinetoDaemon& daemon, const FolderState& folder) const;
  // The number of processes whose files are whole.
  size_t Whole() const;
  // Whether the process reported at its last poll that it is still busy with its trace.
  bool Writes(int64_t pid, const KinetoDaemon& daemon) const;
  // The number of processes that have a trace or are still writing one. A file without an operator
  // does not count: an engine's API server also writes a whole file. Reads each file up to its
  // first operator.
  size_t Traces(const KinetoDaemon& daemon) const;
  // Ends this window: what the processes do from now on belongs to the next one. Afterwards Late
  // always returns what it returns now, and Writes is false for all processes. Moves Kineto's own
  // files away, because they have the same names in every window.
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
  std::set<int64_t> moved_;  // processes whose file was Kineto's own and was moved away
  std::set<int64_t> began_;  // processes whose polls or files show that they began
  std::optional<std::vector<int64_t>> late_at_close_;
};

bool IsAmong(int64_t pid, const std::vector<int64_t>& pids);
// False for a zombie, too.
bool ProcessLives(int64_t pid);

}  // namespace tacho
