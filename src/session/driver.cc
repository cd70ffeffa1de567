#include "session/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "control/live/profile_control.h"
#include "session/daemon/daemon_driver.h"
#include "session/http/flush_progress.h"
#include "session/http/http_driver.h"
#include "session/nsys/nsys_driver.h"

namespace tacho {

DriverWindow::DriverWindow(const RecordOptions& options, RecordObserver& observer,
                           Recording& recording)
    : options_(options),
      observer_(observer),
      recording_(recording),
      running_(recording.workers.size()) {
  std::iota(running_.begin(), running_.end(), size_t{0});
}

bool DriverWindow::EnoughRun() const {
  return running_.size() == recording_.workers.size() || (options_.keep_going && !running_.empty());
}

void DriverWindow::LeaveOut(size_t worker, Finding trouble) {
  Fail(recording_.workers[worker], std::move(trouble));
  std::erase(running_, worker);
}

void DriverWindow::LeaveOutTroubled() {
  std::erase_if(running_,
                [&](size_t i) { return recording_.workers[i].expectation.trouble.has_value(); });
}

std::string DriverWindow::DyingText(const RecordedWorker&) const {
  return options_.load ? "under the load, " : "";
}

std::string DriverWindow::WithLog(RecordedWorker& worker, std::string text) {
  if (const std::string& said = worker.log.Death(); !said.empty())
    text += "; its log says: " + said;
  return text;
}

void DriverWindow::ReportDeath(size_t worker, const std::string& why, int64_t after_ns, bool over) {
  RecordedWorker& dead = recording_.workers[worker];
  if (dead.expectation.trouble) return;
  Finding death =
      TroubleOf(dead, FindingId::kEngineDied,
                fmt::format("died {}{} into the window", DyingText(dead), SecondsText(after_ns)),
                WithLog(dead, why));
  observer_.OnRemark(death.Text() + (over ? "; the window ends" : "; the others go on"));
  if (over && running_.size() > 1) death.remedy = "--keep-going goes on with the others";
  Fail(dead, std::move(death));
}

void DriverWindow::GiveUpTheOthers() {
  const RecordedWorker* first = nullptr;
  size_t failed = 0;
  for (const RecordedWorker& worker : recording_.workers) {
    if (worker.expectation.trouble && failed++ == 0) first = &worker;
  }
  if (first == nullptr) return;
  const Finding& trouble = *first->expectation.trouble;
  for (RecordedWorker& worker : recording_.workers) {
    if (worker.expectation.trouble) continue;
    const bool began =
        worker.started ? worker.started->IsGood() : worker.expectation.start_unix_ns != 0;
    worker.expectation.given_up =
        Finding{FindingId::kGivenUp, worker.worker.url,
                fmt::format("{}, because {} ({}) {}{}", began ? "ended at once" : "not started",
                            first->expectation.name, first->worker.url,
                            trouble.brief.empty() ? trouble.evidence : trouble.brief,
                            failed > 1 ? fmt::format(", and {} more failed", failed - 1) : ""),
                "--keep-going records the others"};
  }
}

void DriverWindow::Fail(RecordedWorker& worker, FindingId id, std::string evidence,
                        std::string remedy) {
  Fail(worker, {id, worker.worker.url, std::move(evidence), std::move(remedy)});
}

Finding DriverWindow::TroubleOf(const RecordedWorker& worker, FindingId id, std::string brief,
                                std::string_view why) {
  return {
      .id = id,
      .subject = worker.worker.url,
      .evidence = fmt::format("{}{}: {}", id == FindingId::kEngineDied ? "it " : "", brief, why),
      .brief = std::move(brief)};
}

void DriverWindow::Fail(RecordedWorker& worker, Finding trouble) {
  // Only the worker's first trouble counts: later ones usually follow from it.
  if (worker.expectation.trouble) return;
  recording_.findings.push_back(trouble);
  worker.expectation.trouble = std::move(trouble);
}

Result<std::unique_ptr<Driver>> MakeDriver(Via via, const RecordOptions& options,
                                           const std::stop_token& stop) {
  switch (via) {
    case Via::kDaemon:
      return std::make_unique<DaemonDriver>(options);
    case Via::kNsys:
      return NsysDriver::Make(options, stop);
    case Via::kAuto:
    case Via::kHttp:
      break;
  }
  return std::make_unique<HttpDriver>(options);
}

// Prefers the daemon, because it does not stall the engine. Chooses HTTP in two cases: the window
// must end after a number of steps or requests (a daemon's window ends at a fixed time), or only
// HTTP supports the options.
Via ViaFor(const RecordedWorker& worker, const RecordOptions& options) {
  const bool counts = options.profile.steps || options.window_requests;
  const bool fields_fit = CheckFields("daemon", "", worker.profile).has_value();
  const ProfilerFacts& profiler = worker.facts.profiler;
  return profiler.has_daemon && !(profiler.has_http && (counts || !fields_fit)) ? Via::kDaemon
                                                                                : Via::kHttp;
}

}  // namespace tacho
