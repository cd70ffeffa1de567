#include "report/words/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/device_totals.h"
#include "report/words/caveat.h"
#include "report/words/idle_words.h"
#include "report/words/integrity_words.h"
#include "report/words/rank_text.h"
#include "text/format_number.h"

namespace tacho {
namespace {

// The sentence leaves out shares below these limits and below kIdleWorthNaming.
constexpr double kExposedWorthNaming = 0.05;
constexpr double kGapWorthNaming = 0.50;  // of the idle time
// From this share on, the window counts as all that was recorded.
constexpr double kNearlyAllRecorded = 0.90;

DurationNs TimeOf(const IdleTable& idle, IdleCause cause) {
  const auto row = std::ranges::find(idle.causes, cause, &IdleCauseRow::cause);
  return row == idle.causes.end() ? DurationNs{} : row->total;
}

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

// Names the operators that run on a CPU engine while it is busy.
std::string_view OperatorsText(const DeviceTotals& totals) {
  return totals.has_collectives_beside ? "operators, or collectives of other threads,"
                                       : "operators";
}

// Whether the window of the work is much shorter than the recorded time. False if that is unknown:
// the file ends early, or work and recording are on two clocks.
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

// ", 41.5 % of the 382 ms recorded (217 ms before the first work)"; "" if that says no more than
// the share of the window does.
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

// The same for a run; "" for slices of one recording, which share their time.
std::string RecordedClause(const DeviceTotals& totals, const RunAnalysis& run) {
  const std::vector<const TraceAnalysis*> ranks = TimedRanksOf(run);
  const DurationNs recorded = RecordedTime(ranks);
  if (!run.together.empty() || !IsShortOf(totals, ranks, recorded)) return "";
  return fmt::format(", {} of the time recorded", ShareOfRecorded(totals, ranks, recorded));
}

// What else lost work makes unknown. `why`: not empty.
std::string LostClause(const std::string& why) {
  return "; " + why + ", so idle time and its causes cannot be told";
}

// ": 61.1 % compute, 25.9 % communication ..." if exposed communication is a large share of the
// window.
std::string ExposedClause(const DeviceTotals& totals) {
  if (ShareOf(totals.exposed_comm, totals.window) < kExposedWorthNaming) return "";
  const DurationNs rest = totals.busy - totals.exposed_comm;
  std::string text = ": ";
  if (rest.ns > 0) {
    text += fmt::format("{} compute{}, ", FormatShare(rest, totals.window),
                        totals.exposed_copy.ns > 0 ? " and copies" : "");
  }
  return text + fmt::format("{} exposed communication, including waits for other ranks",
                            FormatShare(totals.exposed_comm, totals.window));
}

// What most of the kernel time was spent on.
std::string MainWork(const DeviceTotals& totals, const KernelTable& kernels) {
  if (kernels.categories.empty()) return "";
  const CategoryRow& main = kernels.categories.front();
  std::string text = fmt::format("; {} takes {} of the {} time", NameInSentence(main.category),
                                 FormatShare(main.total, kernels.total), WorkWord(totals));
  // Hidden communication costs nothing.
  if (main.category.starts_with("comm.") && ExposedClause(totals).empty()) {
    text += fmt::format(", but communication is exposed for {} of the window only",
                        FormatShare(totals.exposed_comm, totals.window));
  }
  return text;
}

// "; one gap of 463 ms, 0.0848 ms after the first event, is 99.8 % of the idle time" if one gap is
// most of it.
std::string LongestGap(const IdleTable& idle, TimeNs origin) {
  if (idle.gaps.empty() || idle.gaps[0].cause == IdleCause::kNoRequest) return "";
  const IdleGap& gap = idle.gaps[0];
  const DurationNs length = gap.when.length();
  if (ShareOf(length, idle.window - idle.busy) < kGapWorthNaming) return "";
  const std::string host =
      IsTheHosts(gap.cause) && !gap.host.empty() ? " in " + NameInSentence(gap.host) : "";
  return fmt::format("; one gap of {}{}, {} after the first event, is {} of it",
                     FormatDuration(length), host, FormatDuration(gap.when.start - origin),
                     FormatShare(length, idle.window - idle.busy));
}

// Why the devices were idle, or what they did. `origin`: time zero of the trace with the gaps.
std::string Rest(const DeviceTotals& totals, const KernelTable& kernels, IdleTable idle,
                 TimeNs origin, bool clock_is_right) {
  std::string text;
  std::string_view whose = "the idle time";
  const DurationNs no_request = TimeOf(idle, IdleCause::kNoRequest);
  if (ShareOf(no_request, idle.window) >= kIdleWorthNaming) {
    // Nobody is to blame for time without requests, so only the rest is examined.
    idle.window -= no_request;
    std::erase_if(idle.causes,
                  [](const IdleCauseRow& row) { return row.cause == IdleCause::kNoRequest; });
    text = fmt::format("; no request was in flight for {} of it, the rest was {} busy",
                       FormatShare(no_request, idle.window + no_request),
                       FormatShare(idle.busy, idle.window));
    whose = "the remaining idle time";
  }
  const bool worth_naming =
      ShareOf(idle.window - idle.busy, idle.window) >= kIdleWorthNaming && !idle.causes.empty();
  if (!worth_naming) return text + (text.empty() ? MainWork(totals, kernels) : "");
  // Host and device have no common clock; the caveat says why.
  if (idle.causes.front().cause == IdleCause::kUnknown && !clock_is_right) return text;
  // "Outside of operators" says little about a CPU engine: its main work is named instead.
  const bool named = idle.causes.front().cause != IdleCause::kHost;
  if (named) text += "; " + MainIdleCause(idle, whose);
  text += LongestGap(idle, origin);
  return named ? text : text + MainWork(totals, kernels);
}

// " (60.0 % to 70.0 %)": the shares of the least and the most busy rank of all recordings.
std::string BusyRange(const RankTable& ranks) {
  if (ranks.least_busy_of_all == ranks.most_busy_of_all) return "";
  return fmt::format(
      " ({} % to {} %{})", FormatPercent(ranks.least_busy_of_all),
      FormatPercent(ranks.most_busy_of_all),
      ranks.recordings < 2 ? "" : fmt::format(", in {} recordings", ranks.recordings));
}

// What a file is that has no figures of a rank; "" for a rank's file.
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

// What the screen begins with, or the short form with which it ends if the whole text is too long.
enum class Length : uint8_t { kWhole, kBrief };

std::string VerdictText(const TraceAnalysis& trace, const RankTable& ranks, Length length) {
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
  if (!totals.whole) return out + LostClause(WhyNoIdleTime(trace)) + MissingSuffix(ranks);
  if (length == Length::kWhole) out += RecordedClause(totals, trace) + ExposedClause(totals);
  return out +
         Rest(totals, trace.kernels, trace.idle, trace.span.start, trace.integrity.common_clock()) +
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
  if (!totals.devices.whole)
    return out + LostClause(MissingWorkText(run)) + MissingSuffix(run.ranks);
  const bool whole = length == Length::kWhole;
  if (whole)
    out +=
        BusyRange(run.ranks) + RecordedClause(totals.devices, run) + ExposedClause(totals.devices);
  out += Rest(totals.devices, totals.kernels, totals.idle, {},
              std::ranges::all_of(TimedRanksOf(run), [](const TraceAnalysis* trace) {
                return trace->integrity.common_clock();
              }));
  const std::string straggler = StragglerText(run.ranks);
  return out + (whole && !straggler.empty() ? "; " + ComparedText(run.ranks) + straggler : "") +
         MissingSuffix(run.ranks);
}

}  // namespace

std::string Verdict(const TraceAnalysis& trace, const RankTable& ranks) {
  return VerdictText(trace, ranks, Length::kWhole);
}
std::string Verdict(const RunAnalysis& run) { return VerdictText(run, Length::kWhole); }
std::string BriefVerdict(const TraceAnalysis& trace, const RankTable& ranks) {
  return VerdictText(trace, ranks, Length::kBrief);
}
std::string BriefVerdict(const RunAnalysis& run) { return VerdictText(run, Length::kBrief); }

RunVerdict VerdictOf(const RunAnalysis& run) {
  if (const TraceAnalysis* only = OnlyTrace(run))
    return {Verdict(*only, run.ranks), BriefVerdict(*only, run.ranks), Caveat(*only)};
  return {Verdict(run), BriefVerdict(run), Caveat(run)};
}

}  // namespace tacho
