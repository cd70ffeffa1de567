#include "analysis/compare/side_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tacho {
namespace {

using NoCauses = SideEvidence::NoCauses;

bool LostBetween(const TraceAnalysis& trace) {
  return trace.integrity.lost.any() && (!trace.integrity.lost.at_edges() || !trace.idle.known);
}

NoCauses NoCausesOf(const TraceAnalysis& trace) {
  if (!trace.idle.known) return NoCauses::kLostWork;
  NoCauses none = NoCauses::kKnown;
  for (const DeviceClock& clock : trace.integrity.clocks) {
    if (clock.state == DeviceClock::State::kOff) none = std::max(none, NoCauses::kClockOff);
    if (clock.state == DeviceClock::State::kDrifts) none = NoCauses::kClockDrifts;
  }
  if (none != NoCauses::kKnown) return none;
  // Lost work gives some gaps the cause `unknown`, which the other side does not have. Work that
  // was only cut off at the end of the recording is too little to matter here.
  const bool unknown = std::ranges::any_of(
      trace.idle.causes, [](const IdleCauseRow& row) { return row.cause == IdleCause::kUnknown; });
  const LostWork& lost = trace.integrity.lost;
  return unknown && lost.any() && lost.in_doubt.ns > 0 ? NoCauses::kLostWork : NoCauses::kKnown;
}

std::string WhyNoWork(const Notes& notes) {
  if (notes.CountOf(NoteId::kMixedRanks) > 0)
    return "holds several ranks in one file, and nothing tells whose work is whose: compare the "
           "ranks' own files";
  if (notes.CountOf(NoteId::kTimesRefused) > 0)
    return "has no times of GPU work that can be: it lies out of the order of its launches";
  if (notes.CountOf(NoteId::kDeviceRowsNotRead) > 0)
    return "has device rows of a form that is not read, and no other work of a device";
  if (notes.CountOf(NoteId::kRangeProfiler) > 0)
    return "was recorded with the range profiler, which has no times of kernels: record it again "
           "without profiler_metrics";
  return "";
}

// Counts the calls that should have GPU work, in total and by API.
struct LossSums {
  uint64_t calls = 0, lost = 0;
  uint64_t whole_traces = 0;  // number of traces with calls that lost no work
  std::map<std::string, std::pair<uint64_t, uint64_t>> apis = {};  // calls and lost calls, by API

  void Add(const LostWork& work) {
    calls += work.calls;
    whole_traces += work.calls > 0 && !work.any();
    for (const LostWork::Api& api : work.apis) {
      apis[api.name].first += api.calls;
      apis[api.name].second += api.lost;
      lost += api.lost;
    }
  }
};

void AddLoss(const TraceAnalysis& trace, bool is_first, SideEvidence& evidence) {
  const LossPattern pattern = trace.integrity.lost.pattern;
  if (is_first)
    evidence.pattern = pattern;
  else if (evidence.pattern != pattern)
    evidence.pattern.reset();
  evidence.at_edges &= !LostBetween(trace);
}

void CountSteps(const TraceAnalysis& trace, SideEvidence& evidence) {
  for (const Step& step : trace.steps.steps) {
    SideEvidence::Steps& steps = evidence.steps[step.label.phase];
    ++steps.all;
    steps.untimed += trace.devices.empty() || step.lost_work;
  }
}

bool IsOfLostWork(const Note& note) {
  return note.id == NoteId::kLostAtEdge || note.id == NoteId::kLostGpuWork ||
         note.id == NoteId::kCutOffWork || note.id == NoteId::kTimesRefused ||
         KindOf(note.id).severity != Severity::kDataLoss;
}

std::string_view WhichCalls(const SideEvidence& evidence) {
  switch (evidence.pattern.value_or(LossPattern::kNone)) {
    case LossPattern::kStart:
      return ", the first of the recording";
    case LossPattern::kEnd:
      return ", the last of the recording";
    case LossPattern::kStartAndEnd:
      return ", the first and the last of the recording";
    default:
      return "";
  }
}

// The text that follows "causes of idle time: not compared, ". `whose`: the name of one side or
// both.
std::string WhyNoCausesOf(std::string_view whose, NoCauses none, bool both) {
  switch (none) {
    case NoCauses::kClockOff:
    case NoCauses::kClockDrifts:
      return fmt::format("{} device clock{} {} against the host's", whose, both ? "s" : "",
                         none == NoCauses::kClockDrifts ? (both ? "drift" : "drifts")
                         : both                         ? "are off"
                                                        : "is off");
    case NoCauses::kLostWork:
      return fmt::format("GPU work that {} lost may have run in idle time", whose);
    case NoCauses::kKnown:
      break;
  }
  return "";
}

std::string WhyNoCausesOf(std::string_view side, NoCauses none) {
  return WhyNoCausesOf(
      none == NoCauses::kLostWork ? std::string(RunOf(side)) : fmt::format("{}'s", side), none,
      false);
}

}  // namespace

std::string SideEvidence::LostCalls() const {
  return fmt::format("{}GPU work of {} of {} {}{}{}", HowMuchIsLost(partial_graphs, lost_calls),
                     lost_calls, calls, api, api.empty() ? "calls" : " calls", WhichCalls(*this));
}

std::string SideEvidence::UntimedSteps(Phase phase) const {
  const auto of_phase = steps.find(phase);
  if (of_phase == steps.end() || of_phase->second.untimed == 0) return "";
  return fmt::format("{} of its {} {} step{}", of_phase->second.untimed, of_phase->second.all,
                     PhaseName(phase), of_phase->second.all == 1 ? "" : "s");
}

std::string SideEvidence::UntimedRanks(std::string_view side) const {
  if (untimed_ranks == 0 || untimed_ranks == ranks) return "";
  return fmt::format("{} of {} ranks of {} {} no times of GPU work", untimed_ranks, ranks, side,
                     untimed_ranks == 1 ? "has" : "have");
}

bool IsCutOff(const Notes& notes) {
  return notes.lost_data() && !std::ranges::all_of(notes.list(), IsOfLostWork);
}

bool LacksTimes(const TraceAnalysis& trace) {
  return trace.devices.empty() &&
         (!WhyNoWork(trace.notes).empty() || trace.notes.CountOf(NoteId::kNoGpuEvents) > 0);
}

SideEvidence EvidenceOf(const std::vector<RunAnalysis>& runs) {
  return EvidenceOf(AllRanksOf(runs));
}

SideEvidence EvidenceOf(const SideRanks& runs) {
  SideEvidence evidence;
  LossSums losses;
  bool lost_data = false, only_lost_work = true;
  for (const RunRanks& ranks : runs) {
    for (const TraceAnalysis* trace : ranks) {
      const LostWork& lost = trace->integrity.lost;
      if (lost.any()) AddLoss(*trace, losses.lost == 0, evidence);
      CountSteps(*trace, evidence);
      losses.Add(lost);
      evidence.partial_graphs += lost.partial_graphs;
      evidence.cut_off += lost.cut_off;
      evidence.work += trace->launches.gpu_events;
      evidence.unlaunched_work += trace->launches.without_launch;
      lost_data |= trace->notes.lost_data();
      only_lost_work &= std::ranges::all_of(trace->notes.list(), IsOfLostWork);
      ++evidence.ranks;
      if (trace->devices.empty()) {
        evidence.untimed_ranks += LacksTimes(*trace);
        if (evidence.why_no_work.empty()) evidence.why_no_work = WhyNoWork(trace->notes);
        continue;
      }
      evidence.idle_known &= trace->idle.known;
      evidence.no_causes = std::max(evidence.no_causes, NoCausesOf(*trace));
    }
  }
  evidence.only_lost_work =
      lost_data && only_lost_work && losses.lost + evidence.cut_off + evidence.untimed_ranks > 0;
  evidence.calls = losses.calls;
  evidence.lost_calls = losses.lost;
  // Counts the calls of one API only if each trace lost work: other traces do not list their APIs.
  if (losses.apis.size() == 1 && losses.whole_traces == 0) {
    evidence.api = losses.apis.begin()->first;
    evidence.calls = losses.apis.begin()->second.first;
  }
  return evidence;
}

std::string_view RunOf(std::string_view side) {
  return side == "base" ? "the base" : "the new run";
}

std::string LossText(const SideEvidence& base, const SideEvidence& now) {
  if (!base.lost_work() && !now.lost_work()) {
    std::string text;
    for (const auto& [name, side] : {std::pair("base", &base), {"new", &now}}) {
      if (side->lacks_much())
        text += fmt::format("{}{} ends before the work of its last {} call{}",
                            text.empty() ? "" : ", and ", name, side->cut_off,
                            side->cut_off == 1 ? "" : "s");
    }
    return text;
  }
  if (!base.lost_work() || !now.lost_work()) {
    return fmt::format("{} lost {}", RunOf(base.lost_work() ? "base" : "new"),
                       (base.lost_work() ? base : now).LostCalls());
  }
  const std::string of_base = base.LostCalls(), of_now = now.LostCalls();
  if (of_base == of_now) return "base and new each lost " + of_base;
  return fmt::format("{} lost {}, and {} {}", RunOf("base"), of_base, RunOf("new"), of_now);
}

std::string WhyNoCauses(const SideEvidence& base, const SideEvidence& now) {
  if (base.no_causes == now.no_causes) {
    return WhyNoCausesOf(
        base.no_causes == NoCauses::kLostWork ? "base and new" : "base's and new's", base.no_causes,
        true);
  }
  const std::string of_base = WhyNoCausesOf("base", base.no_causes),
                    of_now = WhyNoCausesOf("new", now.no_causes);
  return of_base + (of_base.empty() || of_now.empty() ? "" : ", and ") + of_now;
}

std::string WhyNoCalls(const SideEvidence& base, const SideEvidence& now) {
  constexpr double kMostUnlikeShares = 0.01;
  const double of_base = base.unlaunched_share(), of_now = now.unlaunched_share();
  if (std::abs(of_base - of_now) <= kMostUnlikeShares) return "";
  return fmt::format("{:.0f} % of {}'s GPU work has no launch call",
                     100 * std::max(of_base, of_now), of_base > of_now ? "base" : "new");
}

}  // namespace tacho
