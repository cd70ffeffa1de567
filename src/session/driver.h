#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"
#include "session/recording.h"

namespace tacho {

// One profiled window of a recording: one driver starts, stops and collects the profilers of all
// workers at the same time. What goes wrong is in the workers' expectations and among the
// recording's findings. This base class knows which workers take part; a driver's subclass does the
// rest.
class DriverWindow {
 public:
  // The arguments must outlive it.
  DriverWindow(const RecordOptions& options, RecordObserver& observer, Recording& recording);
  virtual ~DriverWindow() = default;
  DriverWindow(const DriverWindow&) = delete;
  DriverWindow& operator=(const DriverWindow&) = delete;

  // Ends sessions that were left running in the engines. Call it before a start, when the engines'
  // state is not known. Returns false if not every worker can be started.
  virtual bool EndOldSessions(std::stop_token) { return EnoughRun(); }
  // Leaves out workers in which somebody's session runs, as far as this can be seen without ending
  // it. Call it under load. Returns false as EndOldSessions does.
  virtual bool LeaveOutTaken(std::stop_token) { return EnoughRun(); }
  // Returns false if no profiler runs now, or if not all run and keep_going is not set. `stop` ends
  // the wait for starts that were not answered.
  virtual bool Start(std::stop_token stop) = 0;
  // Whether the end of the window is fixed from its start on: then Stop waits for it.
  virtual bool EndsItself() const { return false; }
  // Whether recording ends when the stop is sent, although its answer takes long.
  virtual bool EndsWithItsStop() const { return false; }
  // The latest time for the stop (WindowPlan::most_ns), CLOCK_MONOTONIC. nullopt: the driver sets
  // none; 0: no profiler runs any more.
  virtual std::optional<int64_t> LatestStopNs() const { return std::nullopt; }
  // Whether the files of all workers are there already; failed workers do not count.
  virtual bool FilesThere() const { return false; }
  // Stops all profilers and waits until they have written. `on_the_way` is called once, when no
  // profiler needs the load any more. If others still write for much longer than forecast,
  // `on_late` gets the workers that are done, and again when more are done, and `stop` ends the
  // wait.
  using OnLate = std::function<void(const std::vector<size_t>&)>;
  virtual void Stop(const std::function<void()>& on_the_way, std::stop_token stop = {},
                    const OnLate& on_late = {}) = 0;
  // Brings the files of all workers into the run folder. `stop` ends the wait for workers that
  // failed.
  virtual void Collect(std::stop_token stop) = 0;
  // The same for one worker; a second call for it does nothing.
  virtual void CollectOf(size_t, std::stop_token) {}
  // Whether the stopped worker's files show no step with a request: they hold no such step, or
  // cannot be seen.
  virtual bool HoldsNoStep(size_t, std::stop_token) { return false; }
  // Removes what the window wrote. Returns the files that stay.
  virtual std::vector<std::string> RemoveFiles() { return {}; }

  // The workers that are to start, or did.
  const std::vector<size_t>& running() const { return running_; }
  // Whether all workers are in running(), or, with keep_going, some.
  bool EnoughRun() const;
  // Does not start the worker; `trouble` says why.
  void LeaveOut(size_t worker, Finding trouble);
  // Leaves out the workers that have a trouble already.
  void LeaveOutTroubled();
  // Reports at once that the worker died `after_ns` into the window. `over`: this ends the window;
  // else it goes on.
  void ReportDeath(size_t worker, const std::string& why, int64_t after_ns, bool over);
  // Call it if nothing is recorded because some workers failed: notes the first failed worker in
  // the expectations of the others.
  void GiveUpTheOthers();

 protected:
  // Words after "it died " that say what the worker did then: "under the load, ".
  virtual std::string DyingText(const RecordedWorker& worker) const;
  static std::string WithLog(RecordedWorker& worker, std::string text);
  void Fail(RecordedWorker& worker, FindingId id, std::string evidence, std::string remedy = "");
  // The trouble "BRIEF: why", or "it BRIEF: why" if the engine died.
  static Finding TroubleOf(const RecordedWorker& worker, FindingId id, std::string brief,
                           std::string_view why);
  void Fail(RecordedWorker& worker, Finding trouble);
  void Remark(Finding finding) { ReportFinding(recording_, observer_, std::move(finding)); }

  const RecordOptions& options_;
  RecordObserver& observer_;
  Recording& recording_;
  std::vector<size_t> running_;
};

// A way to drive the profilers of engines: by their own HTTP API (http/), by Kineto's daemon
// (daemon/), by Nsight Systems (nsys/). The phases of a recording know drivers only by this class.
class Driver {
 public:
  virtual ~Driver() = default;
  [[nodiscard]] virtual Via via() const = 0;
  [[nodiscard]] virtual std::string Name() const = 0;  // "HTTP", as the screen names it
  // Whether EndOldSessions ends a session that is in the way of a recording of this engine.
  [[nodiscard]] virtual bool EndsOldSessions(const EngineFacts&) const { return false; }
  // Why --overhead cannot compare windows of this driver; "" if it can.
  [[nodiscard]] virtual std::string WhyNoOverhead() const { return ""; }
  // Settles everything about one worker that can be settled before anything is started: what is
  // asked of it, where its files will appear, what the proof expects of them. Fails with the
  // finding that says why it cannot be recorded. `folder_in_run`: the worker's folder in the run
  // folder; it exists.
  virtual Checked<void> Check(RecordedWorker& worker, const std::string& folder_in_run,
                              std::vector<Finding>& findings, const std::stop_token& stop) = 0;
  // The arguments must outlive the window.
  virtual std::unique_ptr<DriverWindow> Open(HttpClient& client, RecordObserver& observer,
                                             Recording& recording) = 0;
};

// `options` must outlive the driver. Fails if this host lacks what the driver needs. `via` is not
// kAuto: ViaFor chooses.
Result<std::unique_ptr<Driver>> MakeDriver(Via via, const RecordOptions& options,
                                           const std::stop_token& stop);
// The best way to record this worker with these options.
Via ViaFor(const RecordedWorker& worker, const RecordOptions& options);

}  // namespace tacho
