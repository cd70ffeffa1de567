// What happens before a recording starts a profiler: ends sessions that were left running, and
// leaves out workers that somebody else profiles.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/monotonic_clock.h"
#include "control/engine_type.h"
#include "session/http/profiler_session.h"

namespace tacho {
namespace {

// A stop without a session takes milliseconds, or until the current step is over.
constexpr int64_t kIdleStopNs = 2'000'000'000;
// A stop waits for the current step; an engine's first steps take long, because they compile.
constexpr char kWhySilent[] = "it is in a long step, still writes an earlier session, or hangs";

}  // namespace

bool ProfilerSession::EndOldSessions(std::stop_token stop) {
  files_.LookIntoFolders();
  for (size_t i : running_)
    if (TypeOf(recording_.workers[i].facts.kind).MayBeStoppedFirst()) AskToStop(i);
  const int64_t begin = MonotonicNs();
  std::set<size_t> silent;
  const std::map<size_t, ControlOutcome> ended = AwaitStops(
      "ending old sessions", [] {},
      [&] {
        if (stop.stop_requested()) stops_.GiveUp();
        SayWhoIsSilent(MonotonicNs() - begin, silent);
      });
  if (stop.stop_requested()) {
    for (const auto& [i, outcome] : ended)
      if (silent.contains(i) && outcome.verdict == ControlVerdict::kNoAnswer)
        Fail(recording_.workers[i],
             TroubleOf(recording_.workers[i], FindingId::kOldSessionHangs,
                       "did not answer the stop before its start, until Ctrl-C", kWhySilent));
    return false;
  }
  FailThoseThatDidNotEnd(ended);
  NameEndedSessions(ended);
  LeaveOutTroubled();
  // Looks again, so that files of an earlier session do not count as ours.
  files_.LookIntoFolders();
  return EnoughRun();
}

void ProfilerSession::FailThoseThatDidNotEnd(const std::map<size_t, ControlOutcome>& ended) {
  std::vector<size_t> failed;
  for (const auto& [i, outcome] : ended)
    if (!outcome.IsGood()) failed.push_back(i);
  for (const auto& [i, why] : WhyDeadOf(failed)) {
    RecordedWorker& worker = recording_.workers[i];
    if (!why.empty())
      Fail(worker, TroubleOf(worker, FindingId::kEngineDied,
                             fmt::format("died before its start{}",
                                         options_.load ? ", under the load" : ""),
                             WithLog(worker, why)));
    else if (ended.at(i).verdict == ControlVerdict::kNoAnswer)
      Fail(worker, TroubleOf(worker, FindingId::kOldSessionHangs,
                             "did not answer the stop before its start",
                             fmt::format("{}: {}", ended.at(i).Words(), WhySilent(worker))));
  }
}

// vLLM answers 200 even if no session ran. New files, or a stop that took long, show that one did
// run.
void ProfilerSession::NameEndedSessions(const std::map<size_t, ControlOutcome>& ended) {
  std::map<std::string, std::vector<std::string>> urls;  // by folder
  for (const auto& [i, outcome] : ended) {
    const RecordedWorker& worker = recording_.workers[i];
    const int64_t took_ns = outcome.answered_ns - outcome.sent_ns;
    if (!worker.folder.empty())
      urls[worker.folder].push_back(worker.worker.url);
    else if (outcome.IsGood() && took_ns > kIdleStopNs)
      Remark({FindingId::kOldSessionEnded, worker.worker.url,
              fmt::format("the stop before the start took {}: a session that was running there was "
                          "probably ended",
                          SecondsText(took_ns))});
  }
  for (const auto& [folder, workers] : urls) {
    const std::vector<std::string> files = files_.NewTracesIn(folder);
    if (!files.empty())
      Remark({FindingId::kOldSessionEnded, "",
              fmt::format("a session that was running at {} was ended: it left {}{}",
                          fmt::join(workers, " or "), files.front(),
                          files.size() == 1 ? "" : fmt::format(" and {} more", files.size() - 1))});
  }
}

std::string ProfilerSession::WhySilent(const RecordedWorker& worker) const {
  const std::vector<std::string> written =
      worker.folder.empty() ? std::vector<std::string>() : files_.NewTracesIn(worker.folder);
  return written.empty() ? kWhySilent : "it writes an earlier session: " + written.front();
}

void ProfilerSession::SayWhoIsSilent(int64_t elapsed_ns, std::set<size_t>& said) {
  if (elapsed_ns < kLongSilenceNs) return;
  for (size_t i : running_)
    if (stops_.Asked(i) && !stops_.TookNs(i) && said.insert(i).second)
      observer_.OnRemark(fmt::format(
          "{}: no answer to the stop before its start (POST /stop_profile) for {}: {}. {}; Ctrl-C "
          "ends tacho, which has started nothing",
          recording_.workers[i].worker.url, SecondsText(elapsed_ns),
          WhySilent(recording_.workers[i]), PatienceText()));
}

bool ProfilerSession::LeaveOutTaken(std::stop_token stop) {
  std::vector<ControlRequest> starts;
  std::vector<EngineFacts> facts;
  for (size_t i : running_) {
    starts.push_back(*recording_.workers[i].start);
    facts.push_back(recording_.workers[i].facts);
  }
  const std::vector<ControlOutcome> asked =
      AskWhetherTaken(client_, starts, facts, options_.patience, stop);
  const std::vector<size_t> which = running_;
  for (size_t n = 0; n < which.size(); ++n)
    if (asked[n].taken)
      LeaveOut(which[n], TroubleOf(recording_.workers[which[n]], FindingId::kDidNotStart,
                                   "did not start", asked[n].said));
  return EnoughRun();
}

}  // namespace tacho
