#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "control/live/stops_under_way.h"
#include "net/http_client.h"
#include "session/driver.h"
#include "session/files/worker_files.h"
#include "session/http/flush_progress.h"

namespace tacho {

// The engines' own profilers, driven by HTTP, in one recording. Ends old sessions, starts, stops
// and collects, each time on all workers at once. Problems go into the workers' expectations and
// into the recording's findings.
class ProfilerSession final : public DriverWindow {
 public:
  ProfilerSession(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                  Recording& recording);

  // Stops any session that a vLLM engine still holds: somebody else's, or one that ended by itself
  // and was never stopped. This may take as long as a flush. SGLang gets no such stop: if it runs
  // its profiler V2, a stop ends the server.
  bool EndOldSessions(std::stop_token stop) override;
  // Asks those engines that can report a running session without ending it (AskWhetherTaken).
  bool LeaveOutTaken(std::stop_token stop) override;
  // First starts the profilers whose start was slow in a trial; starts the others once these run.
  bool Start(std::stop_token stop) override;
  // Set only for profilers that cannot count their steps.
  [[nodiscard]] std::optional<int64_t> LatestStopNs() const override;
  // True only for engines that count steps: they write their files without a stop.
  [[nodiscard]] bool FilesThere() const override;
  // Ignores `stop`, because a profiler that is left running is worse than a long wait; only the
  // user's second Ctrl-C, which ends tacho, cuts the wait short. One exception: if a flush takes
  // twice as long as forecast, tacho says what the user can do, and from then on `stop` ends the
  // wait for the workers that still write.
  void Stop(const std::function<void()>& on_the_way, std::stop_token stop = {},
            const OnLate& on_late = {}) override;
  void Collect(std::stop_token stop) override;
  void CollectOf(size_t index, std::stop_token stop) override;
  bool HoldsNoStep(size_t index, std::stop_token stop) override;
  std::vector<std::string> RemoveFiles() override;

  WorkerFiles& files() { return files_; }
  const WorkerFiles& files() const { return files_; }

 private:
  // If tacho waits for longer than this without a message, it looks hung.
  static constexpr int64_t kLongSilenceNs = 5'000'000'000;

  // This and similar maps hold the outcome of each worker, by its index.
  std::map<size_t, ControlOutcome> SendStarts(std::stop_token stop);
  std::vector<std::vector<size_t>> Waves() const;
  std::vector<PlannedStart> PlanStarts(const std::vector<size_t>& wave) const;
  // Reports which workers have not started: as progress, and once as a remark.
  void SayWhoDoesNotStart(const std::vector<size_t>& wave, int64_t elapsed_ns, bool& said);
  bool Overdue(size_t worker, int64_t now_ns) const;
  void StopOverdue();
  std::map<size_t, std::string> WhyDeadOf(const std::vector<size_t>& which) const;
  std::string DyingText(const RecordedWorker& worker) const override;
  std::string PatienceText() const;

  // profiler_old_sessions.cc
  void FailThoseThatDidNotEnd(const std::map<size_t, ControlOutcome>& ended);
  void NameEndedSessions(const std::map<size_t, ControlOutcome>& ended);
  // Why it does not answer, as far as its folder shows.
  std::string WhySilent(const RecordedWorker& worker) const;
  // Reports, once for each worker, that its stop has not been answered for seconds, and what to do.
  void SayWhoIsSilent(int64_t elapsed_ns, std::set<size_t>& said);

  // profiler_stop.cc
  void AskToStop(size_t worker);
  std::vector<size_t> AskAllToStop();
  // Waits for the answers to all pending stops and returns them. Meanwhile shows one progress line
  // for each, and calls `look` about five times a second.
  std::map<size_t, ControlOutcome> AwaitStops(std::string_view phase,
                                              const std::function<void()>& on_the_way,
                                              const std::function<void()>& look);
  void Settle(RecordedWorker& worker, const ControlOutcome& outcome, const std::string& dead_then,
              const std::string& dead_now);
  bool IsLate(size_t worker, double times) const;  // its flush takes over `times` the expected time
  // Reports a flush that takes 1.25 times its forecast time or longer. Reports it again, with what
  // the user can do, at twice the forecast time. Gives each of the two reports once a worker.
  void SayWhatIsLate(bool may_leave);
  std::vector<size_t> Done() const;  // workers that have written everything

  // profiler_collect.cc
  std::vector<FlushState> Flushes();
  std::string PlacesOfTraces() const;  // where the traces are or will be, one line for each worker
  void SayWhatIsLeft();

  HttpClient& client_;
  WorkerFiles files_;
  // By worker: when its start was answered; 0: not yet.
  std::vector<std::atomic<int64_t>> began_ns_;
  StopsUnderWay stops_;
  std::set<size_t> ended_by_themselves_, said_late_, said_choice_, collected_;
};

}  // namespace tacho
