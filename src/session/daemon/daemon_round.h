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

// One window as processes were asked for it through Kineto's daemon protocol, and what became of it
// in each of them, by what they say with their questions and by the files they leave.
class DaemonRound {
 public:
  using Askers = std::map<size_t, std::vector<int64_t>>;  // processes by the index of their worker
  using Places = std::map<size_t, DaemonPlace>;           // of the same workers

  DaemonRound() = default;
  // `trace` for all, in the folder of each one's worker.
  DaemonRound(Askers askers, Places places, DaemonTrace trace);
  // Tells them all through `daemon`: they begin `lead_ms` after the last one will have asked.
  void Ask(KinetoDaemon& daemon, int64_t lead_ms);

  const Askers& askers() const { return askers_; }
  const std::vector<int64_t>& told() const { return told_; }  // all of them
  const DaemonPlace& PlaceOf(size_t worker) const { return places_.at(worker); }
  std::string ConfigText() const;  // what they are told; of each folder once
  int64_t start_unix_ms() const { return trace_.start_unix_ms; }
  int64_t begin_ns() const { return begin_ns_; }  // CLOCK_MONOTONIC
  int64_t end_ns() const { return begin_ns_ + trace_.duration_ms * 1'000'000; }

  // Where it was told to write.
  std::string FileOf(int64_t pid) const;
  // What it left of this window, perhaps not under its last name (".tmp"): there or, if Kineto did
  // not take the folder, in Kineto's own file. "": nothing.
  std::string LeftBy(int64_t pid) const;
  // Whether Kineto did not take the folder.
  bool Refused(int64_t pid) const;
  // The files of this window so far, by path, of whoever was told.
  FolderState Files() const;

  // The others did not hear of the window.
  void KeepOnly(const std::vector<int64_t>& pids);
  // Notes who begins; to be called now and then, from Ask to the end of the window.
  void Look(const KinetoDaemon& daemon, const FolderState& folder);
  // Processes that are alive but did not begin: they polled the daemon during the window or after
  // it, and were idle.
  std::vector<int64_t> Late(const KinetoDaemon& daemon, const FolderState& folder) const;
  // Processes whose files are whole.
  size_t Whole() const;
  // Whether a process was still busy with its trace at its last question.
  bool Writes(int64_t pid, const KinetoDaemon& daemon) const;
  // Processes whose traces are there, or will be. Those without an operator do not count: an
  // engine's API server writes a whole file as well. Reads the files up to the first operator.
  size_t Traces(const KinetoDaemon& daemon) const;
  // What the processes do from now on is for another window: Late stays as it is, and none writes
  // any more. Kineto's own files, whose names are the same in all windows, are moved away for that.
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
  std::set<int64_t> moved_;  // whose files were Kineto's own
  std::set<int64_t> began_;  // that said so, or left a sign of it
  std::optional<std::vector<int64_t>> late_at_close_;
};

bool IsAmong(int64_t pid, const std::vector<int64_t>& pids);
// False for one that ended, even if nobody has waited for it yet.
bool ProcessLives(int64_t pid);

}  // namespace tacho
