#include "report/words/finding_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/device_totals.h"
#include "report/words/idle_words.h"
#include "report/words/integrity_words.h"
#include "report/words/rank_text.h"
#include "report/words/request_words.h"
#include "text/format_number.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

constexpr double kGapWorthNaming = 0.50;  // share of the cost

// The finding's cost as a share: "at least 30.0 % of the window".
std::string ShareText(const RunFinding& finding) {
  return fmt::format("{}{} of {}", BoundText(finding.confidence),
                     FormatShare(finding.cost, finding.whole), WholeText(finding));
}

// The longest gap of a cause: " (longest gap: 463 ms in aten::empty, 0.0848 ms after the first
// event)"; "" if the longest gap of this cause is a small part of it.
std::string LongestGapOf(const RunFinding& finding, const TraceAnalysis& trace) {
  if (finding.places.empty() || !finding.places.front().gap) return "";
  const IdleGap& gap = trace.idle.gaps[*finding.places.front().gap];
  if (ShareOf(gap.when.length(), finding.cost) < kGapWorthNaming) return "";
  const std::string host =
      IsTheHosts(gap.cause) && !gap.host.empty() ? " in " + NameInSentence(gap.host) : "";
  return fmt::format(" (longest gap{}: {}{}, {} after the first event)",
                     // A gap longer than the cost also has time of other causes.
                     gap.when.length() > finding.cost ? " with it" : "",
                     FormatDuration(gap.when.length()), host,
                     FormatDuration(gap.when.start - trace.span.start));
}

std::string IdleText(const RunFinding& finding, const TraceAnalysis* only) {
  const std::string share = ShareText(finding);
  if (finding.because == WhyUnknown::kClocks)
    return fmt::format(
        "idle time makes {}; why cannot be told: host and device have no common "
        "clock",
        share);
  const std::string text =
      finding.idle == IdleCause::kUnknown
          ? fmt::format("idle time of unknown cause makes {}", share)
          : IdleCauseText({finding.idle, finding.cost, 0, finding.call}, finding.requests, share);
  return only == nullptr ? text : text + LongestGapOf(finding, *only);
}

std::string RequestText(const RunFinding& finding) {
  const std::string share = ShareText(finding);
  switch (finding.part) {
    case RequestPart::kClient:
      return fmt::format("tacho's own client sent requests late, for {}", share);
    case RequestPart::kNetwork:
      return fmt::format("the network and the engine's front end take {}", share);
    case RequestPart::kQueue:
      return fmt::format("requests wait for their first step for {}", share);
    case RequestPart::kWaitPrefill:
      return fmt::format("answers wait for other requests' prompts for {}", share);
    case RequestPart::kPreempted:
      return fmt::format("requests are left out of steps that run for {}", share);
    case RequestPart::kSend:
      return fmt::format("tokens are on their way from the engine to the client for {}", share);
    default:
      break;
  }
  return fmt::format("{} makes {}", RequestPartId(finding.part), share);
}

std::string_view WhyNoWaits(RankBlame::Absent absent) {
  switch (absent) {
    case RankBlame::Absent::kNoEvents:
      return "the results that were read back hold no events of the ranks";
    case RankBlame::Absent::kNoMatch:
      return "nothing tells which kernels of two ranks are one collective";
    case RankBlame::Absent::kClocks:
      return "the collectives of no two ranks end together";
    case RankBlame::Absent::kOutside:
      return "no collective lies in this part of the traces";
    case RankBlame::Absent::kOnHost:
      return "of engines on the CPU, tacho does not look at the waits";
    case RankBlame::Absent::kNo:
    case RankBlame::Absent::kNoCollectives:
      break;
  }
  return "no rank ran communication kernels";
}

struct FindingOf {
  const RankTable& ranks;
  const TraceAnalysis* only;  // null if there are several traces
  const RunAnalysis* run;     // null if the finding is of one trace, without its run
};

// For a finding without a cost: what is unknown, and why.
std::string UnknownText(const RunFinding& finding, const FindingOf& of) {
  switch (finding.because) {
    case WhyUnknown::kLostWork:
      return fmt::format("{}, so idle time and its causes cannot be told",
                         of.only != nullptr ? WhyNoIdleTime(*of.only) : MissingWorkText(*of.run));
    case WhyUnknown::kTimesRefused:
      return of.only != nullptr ? WhyNoDeviceTime(*of.only) : WhyNoDeviceTime(*of.run);
    case WhyUnknown::kBlame:
      return fmt::format("for whom the ranks wait cannot be told: {}",
                         WhyNoWaits(of.ranks.blame.absent));
    case WhyUnknown::kFewMatched:
      return fmt::format(
          "for whom the ranks wait cannot be told: only {} % of their communication "
          "kernels match one of another rank",
          FormatPercent(of.ranks.blame.matched_share));
    case WhyUnknown::kJoin:
      return fmt::format("what the time of the requests went to cannot be told: {}",
                         of.run == nullptr ? "" : WhyNotJoined(of.run->requests.why));
    case WhyUnknown::kSplit:
      return fmt::format(
          "what the time of the requests went to cannot be told: of {} no token is tied to one "
          "step",
          FormatCounted(finding.answered, "request"));
    case WhyUnknown::kClocks:
    case WhyUnknown::kNothing:
      break;
  }
  return "";
}

// The exposed waits for a rank, as a share of the other ranks' time.
std::string WaitText(const RunFinding& finding, const FindingOf& of) {
  Straggler exposed = *finding.rank;
  exposed.time = finding.cost;
  return ComparedText(of.ranks) + std::string(BoundText(finding.confidence)) +
         StragglerText(of.ranks, exposed);
}

// The share of all waits from which on a rank that caused them is named: halfway from an equal
// share, which it has if the ranks are late by turns, to all.
double WorthNaming(const RankBlame& blame, size_t rank) {
  size_t together = blame.table.size();
  for (const RankBlame::Group& group : blame.groups) {
    if (std::ranges::binary_search(group.ranks, rank))
      together = std::min(together, group.ranks.size());
  }
  return (1 + 1 / static_cast<double>(together)) / 2;
}

// The waits that no late rank explains. If one rank caused most of all waits, names it.
std::string SkewText(const RunFinding& finding, const FindingOf& of) {
  const auto& table = of.ranks.blame.table;
  const auto most = std::ranges::max_element(table, {}, &RankBlame::Row::caused_late);
  std::string text = fmt::format("ranks wait for each other for {}", ShareText(finding));
  if (most == table.end() || most->stands_out)
    return text + ", not counting the waits that a late rank explains";
  if (ShareOf(most->caused_late(), of.ranks.blame.waits) < WorthNaming(of.ranks.blame, most->rank))
    return text + ", and no rank stands out";
  return fmt::format("{}, {} of it for {}", text,
                     FormatShare(most->caused_late(), of.ranks.blame.waits),
                     RankLabel(of.ranks, of.ranks.rows[most->rank]));
}

std::string TextOf(const RunFinding& finding, const FindingOf& of) {
  if (!finding.known()) return UnknownText(finding, of);
  switch (finding.kind) {
    case RunFindingKind::kIdle:
      return IdleText(finding, of.only);
    case RunFindingKind::kWait:
      return WaitText(finding, of);
    case RunFindingKind::kComputes:
      return ComparedText(of.ranks) + StragglerText(of.ranks, *finding.rank);
    case RunFindingKind::kSkew:
      return SkewText(finding, of);
    case RunFindingKind::kTransfer:
      return fmt::format("communication itself, without waits, is exposed for {}",
                         ShareText(finding));
    case RunFindingKind::kExposedComm:
      return fmt::format(
          "communication is exposed for {}, including waits for other ranks{}", ShareText(finding),
          finding.rank ? ": " + ComparedText(of.ranks) + StragglerText(of.ranks, *finding.rank)
                       : "");
    case RunFindingKind::kAboveRoof:
      return fmt::format("kernels take {} beyond what the hardware needs for the model's work",
                         ShareText(finding));
    case RunFindingKind::kExposedCopies:
      return fmt::format("copies with no kernel beside them take {}", ShareText(finding));
    case RunFindingKind::kRequests:
      return RequestText(finding);
  }
  return "";
}

}  // namespace

std::string FindingText(const RunAnalysis& run, const RunFinding& finding) {
  return TextOf(finding, {run.ranks, OnlyTrace(run), &run});
}

std::string FindingText(const TraceAnalysis& trace, const RankTable& ranks,
                        const RunFinding& finding) {
  return TextOf(finding, {ranks, &trace, nullptr});
}

std::string WholeText(const RunFinding& finding) {
  switch (finding.of) {
    case FindingWhole::kWindow:
      return "the window";
    case FindingWhole::kWindowWithRequests:
      return "the time with requests";
    case FindingWhole::kRequests:
      break;
  }
  const std::string_view time = finding.cut ? "recorded time" : "time";
  if (finding.split == finding.answered) return fmt::format("the requests' {}", time);
  return fmt::format("the {} of {} of {} requests", time, FormatCount(finding.split),
                     FormatCount(finding.answered));
}

std::string_view BoundText(Confidence confidence) {
  switch (confidence) {
    case Confidence::kAtLeast:
      return "at least ";
    case Confidence::kAtMost:
      return "at most ";
    case Confidence::kAbout:
      return "about ";
    case Confidence::kMeasured:
    case Confidence::kCannotTell:
      break;
  }
  return "";
}

std::string MeaningOf(const RunFinding& finding) {
  switch (finding.kind) {
    case RunFindingKind::kIdle:
      return finding.known() ? std::string(MeaningOf(finding.idle, finding.requests)) : "";
    case RunFindingKind::kWait:
      return "time in collectives, on the other ranks, until this one came";
    case RunFindingKind::kSkew:
      return "time in collectives until the last rank came, not counting the waits that a late "
             "rank explains";
    case RunFindingKind::kTransfer:
      return "communication while nothing computes, without the waits: even the rank that comes "
             "last spends it";
    case RunFindingKind::kExposedComm:
      return "communication while nothing computes";
    case RunFindingKind::kAboveRoof:
      return "compute in steps, less the time that its products and its attention take at the "
             "peaks "
             "of the hardware";
    case RunFindingKind::kExposedCopies:
      return "copies while nothing computes or communicates";
    case RunFindingKind::kComputes:
      return "compute time of the rank beyond the median of the others";
    case RunFindingKind::kRequests:
      break;
  }
  return finding.known() ? std::string(MeaningOf(finding.part)) : "";
}

namespace {

// How certain a figure of waits, or of communication without waits, is, and why.
std::string_view WhyWaitsAreBounds(Confidence confidence) {
  switch (confidence) {
    case Confidence::kAtLeast:
      return "at least: there are waits that no collective of these traces shows";
    case Confidence::kAtMost:
      return "at most: a part of it may be waiting that no collective of these traces shows";
    case Confidence::kAbout:
      return "about: communication ran beside other work, and its waits may lie there";
    case Confidence::kMeasured:
    case Confidence::kCannotTell:
      break;
  }
  return "measured";
}

}  // namespace

std::string_view WhyBounded(const RunFinding& finding) {
  if (finding.kind == RunFindingKind::kWait || finding.kind == RunFindingKind::kSkew ||
      finding.kind == RunFindingKind::kTransfer)
    return WhyWaitsAreBounds(finding.confidence);
  switch (finding.confidence) {
    case Confidence::kMeasured:
      return "measured";
    case Confidence::kAtLeast:
      return "at least: a part of the whole is of unknown cause";
    case Confidence::kAtMost:
      return "at most: work that is not in the trace may have run then";
    case Confidence::kAbout:
      if (finding.kind == RunFindingKind::kRequests && finding.few_split())
        return "about: fewer than half of the requests could be split, and the others may differ";
      if (finding.kind == RunFindingKind::kRequests)
        return "about: the clocks' error may be in the time of each request";
      return "about: a part of the whole is of unknown cause, and work is missing";
    case Confidence::kCannotTell:
      break;
  }
  return "cannot tell";
}

std::string CommandOf(const RunFinding& finding, std::string_view paths) {
  return fmt::format("tacho explain {} {}", paths, ShellWord("finding:" + finding.id));
}

}  // namespace tacho
