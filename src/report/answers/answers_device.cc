#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/findings.h"
#include "report/answers/answer_parts.h"
#include "report/words/caveat.h"
#include "report/words/finding_words.h"
#include "report/words/idle_words.h"
#include "report/words/integrity_words.h"
#include "report/words/rank_text.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr const char* kIdleUnknown =
    "GPU work that is missing from the recording may have run while the device looks idle";
constexpr const char* kNoClock = "host and device have no clock in common";

// The device is the limit if it is busy for at least kBusyEnough of the time. Otherwise the host is
// the limit if it causes at least kMostOfIdle of the idle time.
constexpr double kBusyEnough = 0.90, kMostOfIdle = 0.50;

// Sets the answer's figure and share to `part` as a share of `whole`.
void SetShare(Answer& answer, DurationNs part, DurationNs whole) {
  answer.figure = FormatShare(part, whole);
  answer.share = ShareOf(part, whole);
}

bool LacksSomeClock(const AnswerInput& in) {
  return std::ranges::any_of(in.ranks, [](const TraceAnalysis* trace) {
    return trace->integrity.device_times() && !trace->integrity.common_clock();
  });
}

// Whether a missing common clock leaves most of the idle time without a known cause.
bool LacksClock(const AnswerInput& in) {
  const std::vector<IdleCauseRow>& causes = in.totals.idle.causes;
  return !causes.empty() && causes.front().cause == IdleCause::kUnknown && LacksSomeClock(in);
}

std::string WhyCausesAreUnknown(const AnswerInput& in) {
  if (LacksSomeClock(in)) return kNoClock;
  const IdleTable& idle = in.totals.idle;
  return fmt::format("the cause of {} of the idle time is unknown",
                     FormatShare(UnknownTime(idle), idle.window - idle.busy));
}

// Between steps there may have been no work, unless requests are known to have been in flight.
bool IsHostsFault(IdleCause cause, Requests requests) {
  return IsTheHosts(cause) && (cause != IdleCause::kBetweenSteps || requests == Requests::kKnown);
}

}  // namespace

Answer AnswerTrust(const AnswerInput& in) {
  const std::vector<TraceAnalysis>& traces = in.run.traces;
  if (traces.empty()) return CannotTell(NoDeviceTime(in));
  uint64_t work = 0, linked = 0;
  for (const TraceAnalysis& trace : traces) {
    work += trace.launches.gpu_events + trace.launches.without_correlation;
    linked += trace.launches.with_launch;
  }
  const auto whole = static_cast<uint64_t>(std::ranges::count_if(traces, IsWhole));
  const bool all_whole = whole == traces.size();
  Answer answer;
  if (all_whole && linked > 0) {
    answer.share = static_cast<double>(linked) / static_cast<double>(work);
    answer.figure = FormatPercent(*answer.share) + " %";
    answer.figure += " linked to a launch";
    answer.of = FormatCounted(work, "piece") + " of GPU work";
  } else if (!all_whole) {
    answer.share = static_cast<double>(whole) / static_cast<double>(traces.size());
    answer.figure = FormatCount(whole) + " whole";
    answer.of = FormatCounted(traces.size(), "trace");
  }
  const TraceAnalysis* only = OnlyTrace(in.run);
  std::vector<std::string> parts = {LossInWords(in.run)};
  if (only == nullptr) {
    parts.push_back(CaveatBesideLoss(in.run));
  } else {
    std::string caveat = Caveat(*only);
    // If idle time is still known, the caveat already names the loss.
    if (!IsWhole(*only) && !caveat.empty() && only->idle.known) parts.clear();
    parts.push_back(std::move(caveat));
    // Incomplete traces besides the rank's own, such as a front end's.
    const uint64_t others = traces.size() - whole - (IsWhole(*only) ? 0 : 1);
    if (others > 0) parts.push_back(FormatCounted(others, "other trace") + " incomplete");
  }
  parts.push_back(MissingCountText(in.run.ranks));
  std::erase(parts, "");
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  answer.sentence = Sentence(std::move(text));
  return answer;
}

Answer AnswerIdle(const AnswerInput& in) {
  const DeviceTotals& totals = in.totals.devices;
  if (totals.window.ns == 0) return CannotTell(NoDeviceTime(in));
  const IdleTable& idle = in.totals.idle;
  // Results that were read back from a file may lack the causes.
  if (!totals.whole || (totals.idle.ns > 0 && idle.causes.empty())) return CannotTell(kIdleUnknown);
  Answer answer;
  SetShare(answer, totals.idle, totals.window);
  answer.of = DeviceTimeText(in, totals.window);
  answer.sentence = totals.idle.ns == 0
                        ? "The device is never idle between its first and its last work"
                    : LacksClock(in) ? fmt::format("Why cannot be told, because {}", kNoClock)
                                     : Sentence(MainIdleCause(idle));
  answer.at = LongestGap(in, [](IdleCause) { return true; });
  return answer;
}

Answer AnswerBound(const AnswerInput& in) {
  const DeviceTotals& totals = in.totals.devices;
  if (totals.window.ns == 0) return CannotTell(NoDeviceTime(in));
  if (totals.on_host)
    return CannotTell("a CPU engine computes on the host: host and device are one");
  if (!totals.whole) return CannotTell(kIdleUnknown);
  DurationNs hosts, no_request;
  for (const IdleCauseRow& row : in.totals.idle.causes) {
    if (IsHostsFault(row.cause, in.totals.idle.requests)) hosts += row.total;
    if (row.cause == IdleCause::kNoRequest) no_request += row.total;
  }
  const DurationNs window = totals.window - no_request;
  if (window.ns <= 0) return CannotTell("no request was in flight");
  Answer answer;
  SetShare(answer, hosts, window);
  answer.figure += " idle because of the host";
  answer.of = DeviceTimeText(in, window) + (no_request.ns > 0 ? " with requests in flight" : "");
  const DurationNs idle = window - totals.busy, unknown = UnknownTime(in.totals.idle);
  const std::string least = MuchIsUnknown(in.totals.idle) ? "at least " : "";
  answer.figure = least + answer.figure;
  const std::string busy =
      (BusyIsLeast(in.run) ? "at least " : "") + FormatShare(totals.busy, window);
  std::string text;
  if (ShareOf(totals.busy, window) >= kBusyEnough) {
    text = "the GPU limits: it is busy for " + busy;
  } else if (ShareOf(hosts, idle) >= kMostOfIdle) {
    text = fmt::format("the host limits: it causes {}{} of the GPU's idle time", least,
                       FormatShare(hosts, idle));
  } else if (ShareOf(hosts + unknown, idle) >= kMostOfIdle) {
    return CannotTell(WhyCausesAreUnknown(in));
  } else {
    text =
        fmt::format("neither alone: the GPU is busy for {}, and the host causes {}{} of the rest",
                    busy, least, FormatShare(hosts, idle));
  }
  // Other ranks look busy while they wait for a rank whose host is late, so name such ranks here.
  for (const Straggler& found : FindStragglers(in.run.ranks)) {
    if (found.sign == Straggler::Sign::kCausesWaiting && found.why == Straggler::Why::kHost)
      text += "; " + StragglerText(in.run.ranks, found);
  }
  answer.sentence = Sentence(std::move(text));
  answer.at =
      LongestGap(in, [&](IdleCause cause) { return IsHostsFault(cause, in.totals.idle.requests); });
  return answer;
}

Answer AnswerKernels(const AnswerInput& in) {
  if (in.totals.devices.window.ns == 0) return CannotTell(NoDeviceTime(in));
  const KernelTable& kernels = in.totals.kernels;
  const std::string_view words = WorkWords(in.totals.devices);
  if (kernels.categories.empty() || kernels.total.ns == 0) {
    return CannotTell(
        fmt::format("no {} {}", in.totals.devices.on_host ? words : "kernel", Whereabouts(in.run)));
  }
  if (!in.totals.devices.whole) return CannotTell(kUnknownWork);
  const CategoryRow& category = kernels.categories.front();
  const KernelRow& kernel = kernels.rows.front();
  Answer answer;
  SetShare(answer, category.total, kernels.total);
  answer.of =
      fmt::format("{} of {} time", FormatDuration(kernels.total), WorkWord(in.totals.devices));
  answer.sentence = fmt::format("Category {} takes most; of single names {}: {} in {}",
                                NameInSentence(category.category), NameInSentence(kernel.name),
                                FormatShare(kernel.stats.total, kernels.total),
                                FormatCounted(kernel.stats.count, "run"));
  return answer;
}

Answer AnswerCommunication(const AnswerInput& in) {
  const DeviceTotals& totals = in.totals.devices;
  if (totals.window.ns == 0) return CannotTell(NoDeviceTime(in));
  if (!totals.whole) return CannotTell(kIdleUnknown);
  Answer answer;
  SetShare(answer, totals.exposed_comm, totals.window);
  answer.of = DeviceTimeText(in, totals.window);
  answer.sentence =
      totals.comm_busy.ns == 0
          ? "No communication ran"
          : fmt::format(
                "Communication runs for {}; for {} of it nothing computes meanwhile; waits "
                "for other ranks are part of it",
                FormatDuration(totals.comm_busy),
                FormatShare(totals.exposed_comm, totals.comm_busy));
  return answer;
}

Answer AnswerRanks(const AnswerInput& in) {
  const RankTable& ranks = in.run.ranks;
  if (!ranks.slowest)
    return CannotTell(std::ranges::all_of(ranks.rows, &RankRow::complete)
                          ? "no two ranks with device work are comparable"
                          : "fewer than two ranks have device work of which nothing is lost");
  Answer answer;
  answer.figure =
      fmt::format("{} to {} %", FormatPercent(ranks.least_busy), FormatPercent(ranks.most_busy));
  answer.figure += " busy";
  answer.of = "the window of each rank";
  const std::vector<Straggler> found = FindStragglers(ranks);
  answer.sentence =
      Sentence(ComparedText(ranks) + (found.empty() ? std::string("no rank stands out")
                                                    : StragglerText(ranks, found.front())));
  if (found.empty()) return answer;
  const auto trace =
      std::ranges::find(in.run.traces, ranks.rows[found.front().row].path, &TraceAnalysis::path);
  if (trace != in.run.traces.end() && !trace->devices.empty())
    answer.at = {static_cast<size_t>(trace - in.run.traces.begin()), trace->devices[0].window};
  return answer;
}

Answer AnswerFirst(const AnswerInput& in) {
  const DeviceTotals& totals = in.totals.devices;
  if (totals.window.ns == 0) return CannotTell(NoDeviceTime(in));
  if (!totals.whole) return CannotTell(kIdleUnknown);
  const std::vector<RunFinding> findings = FindingsOf(in.run);
  if (findings.empty() || !findings.front().known())
    return CannotTell("there is neither idle time nor exposed communication");
  const RunFinding& first = findings.front();
  // Time of unknown cause may belong to any cause, so another cause may be the largest.
  const DurationNs unknown = UnknownTime(in.totals.idle);
  const bool another_may_be_first = std::ranges::any_of(findings, [&](const RunFinding& finding) {
    DurationNs most = finding.cost;
    most += unknown;
    return &finding != &first && finding.kind == RunFindingKind::kIdle && finding.of == first.of &&
           most > first.cost;
  });
  const bool is_unknown = first.kind == RunFindingKind::kIdle && first.idle == IdleCause::kUnknown;
  if (is_unknown || (MuchIsUnknown(in.totals.idle) && another_may_be_first))
    return CannotTell(WhyCausesAreUnknown(in));
  Answer answer;
  SetShare(answer, first.cost, first.whole);
  answer.figure = std::string(BoundText(first.confidence)) + answer.figure;
  answer.of =
      first.of == FindingWhole::kRequests
          ? fmt::format("{} of {}", FormatDuration(first.whole), WholeText(first))
          : DeviceTimeText(in, first.whole) +
                (first.of == FindingWhole::kWindowWithRequests ? " with requests in flight" : "");
  answer.sentence = Sentence(FindingText(in.run, first));
  if (first.kind == RunFindingKind::kIdle)
    answer.at = LongestGap(in, [&](IdleCause cause) { return cause == first.idle; });
  return answer;
}

}  // namespace tacho
