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

// One profiled window of a recording: a driver starts, stops and collects the profilers of all
// workers at the same time. Problems go into the workers' expectations and into the recording's
// findings. This base class knows which workers take part; the subclasses talk to the profilers.
class DriverWindow {
 public:
  // The arguments must outlive the window.
  DriverWindow(const RecordOptions& options, RecordObserver& observer, Recording& recording);
  virtual ~DriverWindow() = default;
  DriverWindow(const DriverWindow&) = delete;
  DriverWindow& operator=(const DriverWindow&) = delete;

  // Ends profiling sessions that were left running in the engines, if there are any. Call it before
  // the start. Returns EnoughRun().
  virtual bool EndOldSessions(std::stop_token) { return EnoughRun(); }
  // Leaves out workers in which somebody else's session runs, as far as this can be seen without
  // ending that session. Call it under load. Returns EnoughRun().
  virtual bool LeaveOutTaken(std::stop_token) { return EnoughRun(); }
  // Starts the profilers. Returns false if no profiler runs now, or if some do not run and
  // keep_going is not set. `stop` ends the wait for answers to the starts.
  virtual bool Start(std::stop_token stop) = 0;
  // Whether the end of the window is fixed when it starts. If so, Stop waits for that end.
  virtual bool EndsItself() const { return false; }
  // Whether profilers record only until the stop is sent, even if they answer it much later.
  virtual bool EndsWithItsStop() const { return false; }
  // The latest time at which to send the stop (WindowPlan::most_ns), by CLOCK_MONOTONIC. nullopt:
  // this driver has no such limit; 0: no profiler runs any more.
  virtual std::optional<int64_t> LatestStopNs() const { return std::nullopt; }
  // Whether the files of all workers are already there; failed workers do not count.
  virtual bool FilesThere() const { return false; }
  // Stops all profilers and waits until they have written their files. Calls `on_the_way` once,
  // when no profiler needs the load any more. If some workers still write long after the forecast
  // time, calls `on_late` with the workers that are done, and again when more are done; from then
  // on `stop` ends the wait.
  using OnLate = std::function<void(const std::vector<size_t>&)>;
  virtual void Stop(const std::function<void()>& on_the_way, std::stop_token stop = {},
                    const OnLate& on_late = {}) = 0;
  // Brings the files of all workers into the run folder. `stop` ends the wait for workers that
  // failed.
  virtual void Collect(std::stop_token stop) = 0;
  // Collects the files of one worker; a second call for the same worker does nothing.
  virtual void CollectOf(size_t, std::stop_token) {}
  // Whether the files of the stopped worker contain no step with a request. True also if the files
  // cannot be seen from here.
  virtual bool HoldsNoStep(size_t, std::stop_token) { return false; }
  // Removes the files that the window wrote. Returns the files that remain.
  virtual std::vector<std::string> RemoveFiles() { return {}; }

  // The workers whose profilers will be started or were started.
  const std::vector<size_t>& running() const { return running_; }
  // Whether running() holds all workers or, with keep_going, at least one.
  bool EnoughRun() const;
  // Does not start this worker; `trouble` says why.
  void LeaveOut(size_t worker, Finding trouble);
  // Leaves out the workers that already have a trouble.
  void LeaveOutTroubled();
  // Reports at once that the worker died `after_ns` into the window. `over`: whether its death ends
  // the window.
  void ReportDeath(size_t worker, const std::string& why, int64_t after_ns, bool over);
  // Call it if nothing is recorded because some workers failed. Notes in the expectations of the
  // other workers which worker failed first.
  void GiveUpTheOthers();

 protected:
  // What follows "it died " in a report: "under the load, ", or "" if there was no load.
  virtual std::string DyingText(const RecordedWorker& worker) const;
  static std::string WithLog(RecordedWorker& worker, std::string text);
  void Fail(RecordedWorker& worker, FindingId id, std::string evidence, std::string remedy = "");
  // The trouble "BRIEF: WHY", or "it BRIEF: WHY" if the engine died.
  static Finding TroubleOf(const RecordedWorker& worker, FindingId id, std::string brief,
                           std::string_view why);
  void Fail(RecordedWorker& worker, Finding trouble);
  void Remark(Finding finding) { ReportFinding(recording_, observer_, std::move(finding)); }

  const RecordOptions& options_;
  RecordObserver& observer_;
  Recording& recording_;
  std::vector<size_t> running_;
};

// A way to drive the profilers of engines: by the engine's own HTTP API (http/), by Kineto's daemon
// (daemon/) or by Nsight Systems (nsys/). The phases of a recording use every driver through this
// class.
class Driver {
 public:
  virtual ~Driver() = default;
  [[nodiscard]] virtual Via via() const = 0;
  [[nodiscard]] virtual std::string Name() const = 0;  // the name on the screen: "HTTP"
  // Whether EndOldSessions would end a session that stands in the way of recording this engine.
  [[nodiscard]] virtual bool EndsOldSessions(const EngineFacts&) const { return false; }
  // Why --overhead cannot compare windows of this driver; "" if it can compare them.
  [[nodiscard]] virtual std::string WhyNoOverhead() const { return ""; }
  // Decides before the start what the worker is asked to record, where its files will appear, and
  // what the proof expects of them. Fails with the finding that says why the worker cannot be
  // recorded. `folder_in_run`: the worker's folder in the run folder; it exists.
  virtual Checked<void> Check(RecordedWorker& worker, const std::string& folder_in_run,
                              std::vector<Finding>& findings, const std::stop_token& stop) = 0;
  // The arguments must outlive the window.
  virtual std::unique_ptr<DriverWindow> Open(HttpClient& client, RecordObserver& observer,
                                             Recording& recording) = 0;
};

// `options` must outlive the driver. Fails if this host lacks what the driver needs. `via` must not
// be kAuto: call ViaFor first.
Result<std::unique_ptr<Driver>> MakeDriver(Via via, const RecordOptions& options,
                                           const std::stop_token& stop);
// The best way to record this worker with these options.
Via ViaFor(const RecordedWorker& worker, const RecordOptions& options);

}  // namespace tacho
