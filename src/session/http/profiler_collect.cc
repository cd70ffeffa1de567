// The end of a session: shows how far the flushes are, and brings the files into the run folder.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/disk_room.h"
#include "control/log/log_checks.h"
#include "session/files/fetch_files.h"
#include "session/files/trace_count.h"
#include "session/http/profiler_session.h"
#include "session/http/side_session.h"

namespace tacho {
namespace {

constexpr size_t kEnoughToKnow = 200;  // bytes of a log line

// What went wrong according to the worker's log: as a finding if tacho knows the failure, else in
// the log's own words.
std::vector<Finding> FailuresOf(const RecordedWorker& worker) {
  std::vector<Finding> findings =
      ReadLog(worker.facts.kind, worker.facts.version, worker.log.Text()).findings;
  const std::string& failure = worker.expectation.log_failure;
  const bool known = std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.evidence.find(failure.substr(0, kEnoughToKnow)) != std::string::npos;
  });
  std::erase_if(findings, [](const Finding& finding) {
    return finding.severity() == FindingSeverity::kInfo;
  });
  if (!failure.empty() && !known)
    findings.push_back({FindingId::kLogFailure, "", "its log says: " + failure});
  for (Finding& finding : findings) finding.subject = worker.worker.url;
  return findings;
}

}  // namespace

bool ProfilerSession::FilesThere() const {
  return recording_.window.steps && !running_.empty() &&
         std::ranges::all_of(running_, [&](size_t i) {
           const RecordedWorker& worker = recording_.workers[i];
           return worker.expectation.trouble || files_.WroteAll(worker);
         });
}

std::vector<FlushState> ProfilerSession::Flushes() {
  std::vector<FlushState> flushes;
  for (size_t i : running_) {
    RecordedWorker& worker = recording_.workers[i];
    FlushState flush;
    flush.url = worker.worker.url;
    flush.said = worker.log.LastWord();
    if (worker.forecast) flush.expected_ns = static_cast<int64_t>(worker.forecast->flush_ns);
    if (!worker.folder.empty()) {
      flush.bytes = 0;
      for (const auto& [path, state] : files_.WrittenBy(worker))
        if (IsTraceName(path, worker.folder)) *flush.bytes += state.bytes;
      flush.doing = files_.DoingOf(worker);
    }
    if (!ended_by_themselves_.contains(i))
      flush.took_ns = stops_.TookNs(i);
    else if (files_.WroteAll(worker))
      flush.took_ns = 0;
    flushes.push_back(std::move(flush));
  }
  return flushes;
}

void ProfilerSession::Collect(std::stop_token stop) {
  // Healthy workers come first, so that a worker that died takes none of their files.
  for (const bool healthy : {true, false})
    for (size_t i = 0; i < recording_.workers.size(); ++i)
      if (recording_.workers[i].expectation.trouble.has_value() != healthy) CollectOf(i, stop);
  // vLLM answers 200 whatever happened to the trace; only its log tells.
  for (RecordedWorker& worker : recording_.workers) {
    worker.expectation.log_failure = worker.log.Failure();
    for (Finding& finding : FailuresOf(worker)) Remark(std::move(finding));
  }
}

void ProfilerSession::CollectOf(size_t index, std::stop_token stop) {
  if (!collected_.insert(index).second) return;
  RecordedWorker& worker = recording_.workers[index];
  const std::string target = recording_.folder.In("traces/" + worker.expectation.name);
  const auto progress = [&](uint64_t bytes) {
    observer_.OnProgress("collect", fmt::format("{} {:.1f} MB", worker.worker.url,
                                                static_cast<double>(bytes) / 1e6));
  };
  // Ctrl-C ends the wait only for a worker that failed; the files that it left are taken.
  const bool healthy = !worker.expectation.trouble;
  if (healthy) stop = {};
  Result<BroughtFiles> brought;
  if (!worker.stays_in.empty()) {
    worker.written_unix_ns = files_.WrittenUnixNs(worker);
  } else if (worker.remote) {
    worker.written_unix_ns = files_.WrittenUnixNs(worker);
    Result<std::vector<std::string>> fetched =
        FetchFiles(*worker.remote, FileKeyOf(worker), worker.expectation.start_unix_ns, target,
                   options_.patience, stop, progress);
    if (fetched)
      brought->files = std::move(*fetched);
    else
      brought = tl::unexpected(fetched.error());
  } else {
    files_.WaitFor(worker, stop, progress);
    worker.expectation.room_bytes = FreeBytes(worker.folder);
    worker.written_unix_ns = files_.WrittenUnixNs(worker);
    worker.table_ns = files_.TableNs(worker);
    if (std::optional<Finding> taken = files_.TakeFilesOfOneProcess(index))
      Remark(std::move(*taken));
    brought = BringFiles(files_.TracesOf(worker), target);
  }
  if (!brought) return Fail(worker, FindingId::kNotCollected, brought.error().message);
  worker.expectation.files = std::move(brought->files);
  if (brought->no_room) recording_.findings.push_back(std::move(*brought->no_room));
}

bool ProfilerSession::HoldsNoStep(size_t index, std::stop_token stop) {
  const RecordedWorker& worker = recording_.workers[index];
  if (worker.folder.empty()) return true;
  files_.WaitFor(worker, stop);
  const std::vector<std::string> files = files_.TracesOf(worker);
  return !files.empty() && std::ranges::all_of(files, [](const std::string& file) {
    const Result<TraceCount> count = CountTrace(file);
    return count && count->whole && count->steps == count->empty_steps;
  });
}

std::vector<std::string> ProfilerSession::RemoveFiles() {
  return RemoveFilesOf(files_, recording_.workers, options_);
}

std::string ProfilerSession::PlacesOfTraces() const {
  std::string lines;
  for (size_t i : running_) {
    const RecordedWorker& worker = recording_.workers[i];
    lines += fmt::format("  {}  ({})\n", PlaceOf(worker), worker.worker.url);
  }
  return lines;
}

void ProfilerSession::SayWhatIsLeft() {
  std::string urls;
  for (size_t i : running_) urls += " " + recording_.workers[i].worker.url;
  observer_.OnLeftBehind(
      running_.empty()
          ? ""
          : fmt::format("profilers may still be running; stop them with:\ntacho engine stop{}\n"
                        "their traces are, or will be,\n{}",
                        urls, PlacesOfTraces()));
}

}  // namespace tacho
