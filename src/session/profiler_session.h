#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "control/open_session.h"
#include "control/profile_control.h"
#include "net/http_client.h"
#include "session/flush_progress.h"
#include "session/record.h"
#include "session/trace_folder.h"

namespace tacho {

// The engines' own profilers, by HTTP, in one recording: ends what runs already, starts, stops and
// collects, each of it on all workers at the same time. What goes wrong stands in the workers'
// expectations and among the recording's troubles.
class ProfilerSession {
 public:
  ProfilerSession(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                  Recording& recording);

  // Before a start from an unknown state. vLLM may hold a session that ended by itself and was
  // never stopped, or somebody else's: their stop may take as long as a flush. On SGLang a stop can
  // end the server (its second profiler), so none is sent. False: not every worker can be started.
  bool EndOldSessions(std::stop_token stop);
  // False when no profiler runs now, or not all of them do and the others are not wanted alone.
  bool Start();
  // Whether the files of all workers are there already: engines that count write by themselves.
  bool FilesThere() const;
  // Nothing cancels it but the user's second Ctrl-C: a profiler left running is worse than a long
  // wait. `on_the_way` is called once the stops are.
  void Stop(const std::function<void()>& on_the_way);
  // `stop` ends the waiting for workers that failed.
  void Collect(std::stop_token stop);

 private:
  // Sends their stops to the workers `which`, with a line of progress for each until all have
  // answered; `on_the_way` is called once they are under way.
  std::vector<ControlOutcome> SendWithProgress(std::string_view phase,
                                               const std::vector<size_t>& which,
                                               std::stop_token stop,
                                               const std::function<void()>& on_the_way);
  std::vector<std::string> WhyDeadOf(const std::vector<size_t>& which) const;
  void Fail(RecordedWorker& worker, std::string trouble);
  void NameEndedSessions(const std::vector<size_t>& which,
                         const std::vector<ControlOutcome>& ended);
  void Settle(RecordedWorker& worker, const ControlOutcome& outcome, const std::string& dead_then,
              const std::string& dead_now);
  std::vector<std::optional<OpenSession>> MarkAsOpen(int64_t unix_s);
  void Keep(const RecordedWorker& worker, const OpenSession& session);
  void SayWhatIsLeft();
  std::string StopCommand() const;
  void Remark(const std::string& text);

  // profiler_files.cc
  void LookIntoFolders();
  std::vector<FlushState> Flushes();
  void CollectOf(RecordedWorker& worker, std::stop_token stop);
  // What the names of the worker's files begin with; "" where the engine reads no key.
  static std::string_view PrefixOf(const RecordedWorker& worker);
  std::vector<std::string> FilesOf(const RecordedWorker& worker) const;
  size_t ExpectedFiles(const RecordedWorker& worker) const;
  std::string Traces() const;  // where they are or will be, one line a worker

  HttpClient& client_;
  const RecordOptions& options_;
  RecordObserver& observer_;
  Recording& recording_;
  std::vector<size_t> running_;                // workers that are to start, or did
  std::vector<std::atomic<int64_t>> took_ns_;  // of the last stop of each worker; 0: no answer yet
  std::map<std::string, FolderState> before_;  // by folder, as it was before the start
};

}  // namespace tacho
