#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "session/http/profiler_session.h"
#include "session/recording.h"

namespace tacho {

// An extra session on some of a recording's workers: a trial, or a profiled window of `--overhead`.
// Its files are only inspected and then removed.
struct SideSessionPlan {
  std::string name;  // prefix of its file keys, and the name of its phase on the screen: "trial"
  std::vector<size_t> workers;
  // The number of steps after which an engine that counts steps ends the session. Above 0.
  std::function<int64_t(const RecordedWorker&)> steps;
  // For engines that do not count: the longest time, from each engine's own start.
  std::optional<int64_t> most_ns;
};

// Removes the new files whose names show that these workers wrote them, also from the engines'
// folders and hosts. Returns the files that remain.
std::vector<std::string> RemoveFilesOf(const WorkerFiles& files,
                                       const std::vector<RecordedWorker>& workers,
                                       const RecordOptions& options);

class SideSession {
 public:
  // All arguments must outlive it. `folder` was made for this session; the destructor removes it.
  SideSession(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
              const Recording& recording, const SideSessionPlan& plan, RunFolder folder);
  ~SideSession();
  SideSession(const SideSession&) = delete;
  SideSession& operator=(const SideSession&) = delete;

  ProfilerSession& session() { return *session_; }
  Recording& recording() { return scratch_; }  // holds the workers of the plan, in the plan's order
  // Returns the files that remain (RemoveFilesOf).
  std::vector<std::string> RemoveFiles() {
    return RemoveFilesOf(session_->files(), scratch_.workers, options_);
  }

 private:
  // Passes everything on to the recording's observer, except OnDone: a side session is not a phase
  // of the recording.
  class Observer final : public RecordObserver {
   public:
    Observer(RecordObserver& to, std::string_view name) : to_(to), name_(name) {}
    void OnDone(std::string_view, const std::string&) override {}
    void OnProgress(std::string_view phase, const std::string& what) override;
    void OnRemark(const std::string& what) override;
    void OnLeftBehind(const std::string& what) override { to_.OnLeftBehind(what); }

   private:
    RecordObserver& to_;
    const std::string name_;
  };
  void AddWorker(const Recording& recording, const RecordedWorker& from,
                 const SideSessionPlan& plan);

  RecordOptions options_;
  Observer observer_;
  Recording scratch_;
  std::optional<ProfilerSession> session_;
};

}  // namespace tacho
