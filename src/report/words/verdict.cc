#include "report/words/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "analysis/findings/findings.h"
#include "report/device_totals.h"
#include "report/words/caveat.h"
#include "report/words/finding_words.h"
#include "report/words/idle_words.h"
#include "report/words/integrity_words.h"
#include "report/words/rank_text.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr double kFindingWorthNaming = 0.05;  // as a share of the finding's whole
// If the window is at least this share of the recorded time, the verdict does not mention the
// recorded time.
constexpr double kNearlyAllRecorded = 0.90;

std::string MissingSuffix(const RankTable& ranks) {
  return ranks.missing.empty() ? "" : "; " + MissingCountText(ranks);
}

bool TookNoStep(const TraceAnalysis& trace) {
  return trace.notes.CountOf(NoteId::kNoEngineStep) > 0;
}

std::string NoStepText(const RankTable& ranks) {
  return "the engine took no step while the profiler ran, so there is no device time: send "
         "requests while it records" +
         MissingSuffix(ranks);
}

// What a CPU engine runs while it is busy, in words.
std::string_view OperatorsText(const DeviceTotals& totals) {
  return totals.has_collectives_beside ? "operators, or collectives of other threads,"
                                       : "operators";
}

// Whether the window of the work is much shorter than the recorded time. False if the user chose
// the window. Also false if this is unknown, because the file ends early or because work and
// recording are on two clocks.
bool IsShortOf(const DeviceTotals& totals, const std::vector<const TraceAnalysis*>& traces,
               DurationNs recorded) {
  return ShareOf(totals.window, recorded) < kNearlyAllRecorded &&
         std::ranges::none_of(traces, [](const TraceAnalysis* trace) {
           return trace->scope.window || trace->notes.ends_early() ||
                  !trace->integrity.common_clock();
         });
}

std::string ShareOfRecorded(const DeviceTotals& totals,
                            const std::vector<const TraceAnalysis*>& traces, DurationNs recorded) {
  return (std::ranges::any_of(traces, BusyIsLeastOfRecorded) ? "at least " : "") +
         FormatShare(totals.busy, recorded);
}

// The busy share of the recorded time: ", 41.5 % of the 382 ms recorded (217 ms before the first
// work)". "" if the recorded time is about as long as the window.
std::string RecordedClause(const DeviceTotals& totals, const TraceAnalysis& trace) {
  const Interval part = trace.recorded();
  const DurationNs recorded = RecordedTime({&trace});
  if (!IsShortOf(totals, {&trace}, recorded)) return "";
  const std::string share = ShareOfRecorded(totals, {&trace}, recorded);
  if (trace.devices.size() != 1) return fmt::format(", {} of the time recorded", share);
  const Interval window = trace.devices[0].window;
  std::string where;
  const auto add = [&](DurationNs time, std::string_view text) {
    if (ShareOf(time, recorded) < (1 - kNearlyAllRecorded) / 2) return;
    where += fmt::format("{}{} {}", where.empty() ? "" : ", ", FormatDuration(time), text);
  };
  add(window.start - part.start, "before the first work");
  add(part.end - window.end, "after the last work");
  if (where.empty()) return "";
  return fmt::format(", {} of the {} recorded ({})", share, FormatDuration(recorded), where);
}

// The same clause for a run; "" if the traces are slices of one recording, because they share its
// recorded time.
std::string RecordedClause(const DeviceTotals& totals, const RunAnalysis& run) {
  const std::vector<const TraceAnalysis*> ranks = TimedRanksOf(run);
  const DurationNs recorded = RecordedTime(ranks);
  if (!run.together.empty() || !IsShortOf(totals, ranks, recorded)) return "";
  return fmt::format(", {} of the time recorded", ShareOfRecorded(totals, ranks, recorded));
}

// What lost work makes unknown.
std::string LostClause(const std::vector<RunFinding>& findings,
                       const std::function<std::string(const RunFinding&)>& text_of) {
  const auto lost = std::ranges::find(findings, WhyUnknown::kLostWork, &RunFinding::because);
  return lost == findings.end() ? "" : "; " + text_of(*lost);
}

// The findings that a verdict names: the first `most`, without those that add nothing to the rest
// of the sentence.
std::vector<const RunFinding*> FindingsWorthNaming(const std::vector<RunFinding>& findings,
                                                   size_t most) {
  std::vector<const RunFinding*> named;
  for (const RunFinding& finding : findings) {
    const bool is_idle = finding.kind == RunFindingKind::kIdle;
    // On a CPU engine, this is just the time that is not busy.
    if (is_idle && finding.idle == IdleCause::kHost) continue;
    // Leaves out idle time of unknown cause if another finding implies it by "at least", or if the
    // caveat names it because there is no common clock.
    if (is_idle && finding.idle == IdleCause::kUnknown &&
        (finding.because != WhyUnknown::kNothing || !named.empty()))
      continue;
    // A finding about a rank is always named, because only ranks that stand out are findings.
    if (finding.share() < kFindingWorthNaming && !finding.rank) continue;
    if (named.size() < most && finding.known()) named.push_back(&finding);
  }
  return named;
}

// The category that took most of the kernel time.
std::string MainWork(const DeviceTotals& totals, const KernelTable& kernels) {
  if (kernels.categories.empty()) return "";
  const CategoryRow& main = kernels.categories.front();
  std::string text = fmt::format("; {} takes {} of the {} time", NameInSentence(main.category),
                                 FormatShare(main.total, kernels.total), WorkWord(totals));
  // Communication that is hidden behind compute costs nothing, so say how much is exposed.
  if (main.category.starts_with("comm."))
    text += fmt::format(", but communication is exposed for {} of the window only",
                        FormatShare(totals.exposed_comm, totals.window));
  return text;
}

// "; no request was in flight for 90.0 % of it, the rest was 50.0 % busy". Idle time without a
// request is nobody's fault, so the findings are about the rest.
std::string NoRequestClause(const IdleTable& idle) {
  const auto row = std::ranges::find(idle.causes, IdleCause::kNoRequest, &IdleCauseRow::cause);
  if (row == idle.causes.end() || ShareOf(row->total, idle.window) < kIdleWorthNaming) return "";
  return fmt::format("; no request was in flight for {} of it, the rest was {} busy",
                     FormatShare(row->total, idle.window),
                     FormatShare(idle.busy, idle.window - row->total));
}

// kWhole begins the screen; kBrief ends it if the whole text is too long.
enum class Length : uint8_t { kWhole, kBrief };

// The end of a verdict: what the time was lost to. If the devices' work took more time than was
// lost, also what this work was. `text_of` gives a finding's sentence.
std::string Rest(const DeviceTotals& totals, const KernelTable& kernels, const IdleTable& idle,
                 const std::vector<RunFinding>& findings, Length length,
                 const std::function<std::string(const RunFinding&)>& text_of) {
  const size_t most_named = length == Length::kWhole ? 2 : 1;
  std::string text = NoRequestClause(idle);
  const bool names_work = text.empty();
  const std::vector<const RunFinding*> named = FindingsWorthNaming(findings, most_named);
  DurationNs lost;
  bool names_comm = false;
  for (const RunFinding* finding : named) {
    text += "; " + text_of(*finding);
    if (finding->of != FindingWhole::kRequests) lost = std::max(lost, finding->cost);
    names_comm |= finding->kind == RunFindingKind::kExposedComm ||
                  finding->kind == RunFindingKind::kTransfer ||
                  finding->kind == RunFindingKind::kWait || finding->kind == RunFindingKind::kSkew;
  }
  const bool main_is_comm = names_comm && !kernels.categories.empty() &&
                            kernels.categories.front().category.starts_with("comm.");
  if (!names_work || named.size() == most_named || lost > totals.compute || main_is_comm)
    return text;
  return text + MainWork(totals, kernels);
}

// The busy shares of the least and the most busy rank over all recordings: " (60.0 % to 70.0 %)".
std::string BusyRange(const RankTable& ranks) {
  if (FormatPercent(ranks.least_busy_of_all) == FormatPercent(ranks.most_busy_of_all)) return "";
  return fmt::format(
      " ({} % to {} %{})", FormatPercent(ranks.least_busy_of_all),
      FormatPercent(ranks.most_busy_of_all),
      ranks.recordings < 2 ? "" : fmt::format(", in {} recordings", ranks.recordings));
}

// For a file that is no rank's trace, what it is; "" for a rank's trace.
std::string OtherFileText(const TraceFacts& facts) {
  switch (facts.role) {
    case TraceRole::kFrontend:
      return "a front-end's trace: no operator and no GPU work in it, so no device time";
    case TraceRole::kCapture:
      return "a recording of graph capture at the engine's start, not of a rank that serves: "
             "graphs are captured and do not run, so no device time";
    case TraceRole::kForeign:
      return fmt::format(
          "a Chrome trace of another producer{}: no torch operator, no step and no GPU work in it, "
          "so no device time",
          facts.producer.empty() ? "" : " (" + facts.producer + ")");
    case TraceRole::kWorker:
    case TraceRole::kMerged:
      break;
  }
  return "";
}

bool AreMixed(const TraceAnalysis& trace) { return trace.notes.CountOf(NoteId::kMixedRanks) > 0; }

std::string VerdictText(const TraceAnalysis& trace, const RankTable& ranks,
                        const RequestAnalysis& requests, Length length) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  if (trace.counts.total == 0) {
    return "the file holds no event: is it a trace of PyTorch's profiler?";
  }
  if (!IsWorker(trace)) return OtherFileText(trace.facts);
  if (AreMixed(trace)) {
    return "no figure of a rank: the file holds several ranks as one, and nothing tells whose work "
           "is whose; analyze the ranks' own files together";
  }
  if (totals.window.ns == 0) {
    if (const std::string why = SaidWhyNoDeviceTime(trace); !why.empty())
      return why + MissingSuffix(ranks);
  }
  if (totals.window.ns == 0 && TookNoStep(trace)) return NoStepText(ranks);
  if (totals.window.ns == 0) {
    return WhyNoDeviceTime(trace) + ", so no device time" + MissingSuffix(ranks);
  }
  std::string who = "GPU busy";
  if (totals.on_host) {
    who = fmt::format("CPU engine: {} run for", OperatorsText(totals));
  } else if (totals.devices > 1) {
    who = fmt::format("{} GPUs busy", totals.devices);
  }
  std::string out =
      fmt::format("{} {}{} of {}", who, BusyIsLeast(trace) ? "at least " : "",
                  FormatShare(totals.busy, totals.window), FormatDuration(totals.window));
  const std::vector<RunFinding> findings = FindingsOf(trace, requests);
  const auto text_of = [&](const RunFinding& finding) {
    return FindingText(trace, ranks, finding);
  };
  if (!totals.whole) return out + LostClause(findings, text_of) + MissingSuffix(ranks);
  if (length == Length::kWhole) out += RecordedClause(totals, trace);
  return out + Rest(totals, trace.kernels, trace.idle, findings, length, text_of) +
         MissingSuffix(ranks);
}

std::string VerdictText(const RunAnalysis& run, Length length) {
  const RunTotals totals = TotalsOf(run);
  if (totals.workers > 0 &&
      std::ranges::all_of(RanksOf(run), [](const auto* trace) { return TookNoStep(*trace); }))
    return NoStepText(run.ranks);
  const bool all_captures = std::ranges::all_of(run.traces, [](const TraceAnalysis& trace) {
    return trace.facts.role == TraceRole::kCapture;
  });
  if (all_captures && !run.traces.empty())
    return "recordings of graph capture at the engine's start, not of ranks that serve: graphs are "
           "captured and do not run, so no device time";
  if (totals.devices.window.ns == 0) {
    const std::string why = WhyNoDeviceTime(run);
    return why + (SaidWhyNoDeviceTime(run).empty() ? ", so no device time" : "") +
           MissingSuffix(run.ranks);
  }
  const std::string traces = totals.timed < totals.workers
                                 ? fmt::format("{} of {} traces", totals.timed, totals.workers)
                                 : FormatCounted(totals.workers, "trace");
  std::string out =
      fmt::format("{} {}{} of the window over {}",
                  totals.devices.on_host ? fmt::format("{} run for", OperatorsText(totals.devices))
                                         : "GPUs busy",
                  BusyIsLeast(run) ? "at least " : "",
                  FormatShare(totals.devices.busy, totals.devices.window), traces);
  const std::vector<RunFinding> findings = FindingsOf(run);
  const auto text_of = [&](const RunFinding& finding) { return FindingText(run, finding); };
  if (!totals.devices.whole) return out + LostClause(findings, text_of) + MissingSuffix(run.ranks);
  if (length == Length::kWhole) out += BusyRange(run.ranks) + RecordedClause(totals.devices, run);
  return out + Rest(totals.devices, totals.kernels, totals.idle, findings, length, text_of) +
         MissingSuffix(run.ranks);
}

}  // namespace

std::string Verdict(const TraceAnalysis& trace, const RankTable& ranks,
                    const RequestAnalysis& requests) {
  return VerdictText(trace, ranks, requests, Length::kWhole);
}
std::string Verdict(const RunAnalysis& run) { return VerdictText(run, Length::kWhole); }
std::string BriefVerdict(const TraceAnalysis& trace, const RankTable& ranks,
                         const RequestAnalysis& requests) {
  return VerdictText(trace, ranks, requests, Length::kBrief);
}
std::string BriefVerdict(const RunAnalysis& run) { return VerdictText(run, Length::kBrief); }

RunVerdict VerdictOf(const RunAnalysis& run) {
  if (const TraceAnalysis* only = OnlyTrace(run))
    return {Verdict(*only, run.ranks, run.requests), BriefVerdict(*only, run.ranks, run.requests),
            Caveat(*only)};
  return {Verdict(run), BriefVerdict(run), Caveat(run)};
}

}  // namespace tacho
