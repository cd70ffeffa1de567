#include "report/words/integrity_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

#include "analysis/device/missing_work.h"
#include "report/device_totals.h"
#include "report/words/idle_words.h"
#include "text/format_number.h"

namespace tacho {
namespace {

// Which calls lost work: "only 1 call in 8 has its work"; "" if there is no pattern.
std::string PatternText(const LostWork& lost) {
  switch (lost.pattern) {
    case LossPattern::kStart:
      return "the first calls of the recording";
    case LossPattern::kEnd:
      return "the last calls of the recording";
    case LossPattern::kStartAndEnd:
      return "the first and the last calls of the recording";
    case LossPattern::kAllGraphs:
      return "every graph launch, and no other call";
    case LossPattern::kAllOfAThread:
      return "all calls of some threads, and no others";
    case LossPattern::kAllButOneIn:
      return fmt::format("only 1 call in {} has its work", lost.one_in);
    case LossPattern::kInARow:
      return "calls that follow each other";
    case LossPattern::kSpread:
      return lost.lost_calls > 1 ? "calls all over the recording" : "";
    case LossPattern::kNone:
    case LossPattern::kCount:
      break;
  }
  return "";
}

std::string CutOffText(const LostWork& lost) {
  return fmt::format("the recording ends before the work of its last {}",
                     lost.cut_off == 1 ? "call" : FormatCounted(lost.cut_off, "call"));
}

std::string ClockText(const DeviceClock& clock) {
  const auto of = [](uint64_t some, uint64_t all) {
    return some == all ? "all " + FormatCount(all) : FormatCount(some) + " of " + FormatCount(all);
  };
  std::string text;
  if (clock.before_launch > 0) {
    text = fmt::format("{} launched pieces of work start before their launch call, by up to {}",
                       of(clock.before_launch, clock.launched), FormatDuration(*clock.least));
  }
  if (clock.after_wait > 0 || text.empty()) {
    text +=
        fmt::format("{}work ends up to {} after {}", text.empty() ? "" : ", and ",
                    FormatDuration(-clock.most.value_or(DurationNs{})),
                    clock.after_wait > 0 ? "a call that waited for it" : "the profiler stopped");
  }
  if (clock.state == DeviceClock::State::kDrifts)
    return text + ": the clock of device " + clock.device + " drifts against the host's";
  text += fmt::format(": the clock of device {} is {} the host's by", clock.device,
                      clock.before_launch > 0 ? "behind" : "ahead of");
  const DurationNs near = clock.before_launch > 0 ? *clock.least : -*clock.most;
  const auto far = clock.before_launch > 0 ? clock.most : clock.least;
  if (!far) return text + fmt::format(" {} or more", FormatDuration(near));
  // Each bound has a tolerance, so the lower one may be the larger.
  const auto [least, most] = std::minmax({near, clock.before_launch > 0 ? *far : -*far});
  const std::string from = FormatDuration(least), to = FormatDuration(most);
  // If the offset is constant, it is the same at the start and at the end.
  const bool may_drift =
      clock.least_at_start && clock.least_at_end &&
      2 * std::abs((*clock.least_at_end - *clock.least_at_start).ns) > std::abs(near.ns);
  return text + " " + (from == to ? from : from + " to " + to) + (may_drift ? ", or drifts" : "");
}

constexpr const char* kNoEventLost = "no event lost";
constexpr const char* kMayBeMissing = "events may be missing, as the profiler says";
constexpr const char* kCannotTellLoss = "whether events are missing cannot be told";

// What the notes of a trace say about lost data.
std::string LossInNotes(const Notes& notes) {
  if (notes.CountOf(NoteId::kCorruptGzip) > 0) return "damaged: figures may be wrong (see NOTES)";
  if (notes.CountOf(NoteId::kTimesRefused) > 0) return "the device's times are refused (see NOTES)";
  const bool is_known = std::ranges::any_of(notes.list(), [](const Note& note) {
    return KindOf(note.id).severity == Severity::kDataLoss &&
           note.id != NoteId::kProducerLostEvents;
  });
  return is_known ? "incomplete: totals are lower bounds (see NOTES)"
                  : std::string(kMayBeMissing) + " (see NOTES)";
}

// Whether tacho would notice lost events. False if the trace has no figures. Also false if it has
// GPU work, but none that is linked to a launch: only launches show which work should be there.
bool CanTellLoss(const TraceAnalysis& trace) {
  const LaunchTable& launches = trace.launches;
  const bool has_work = launches.gpu_events + launches.without_correlation > 0;
  return (launches.with_launch > 0 || !has_work) && trace.facts.role != TraceRole::kForeign &&
         trace.counts.total > 0 &&
         std::ranges::none_of(
             std::array{NoteId::kMixedRanks, NoteId::kRangeProfiler, NoteId::kNoGpuEvents},
             [&](NoteId id) { return trace.notes.CountOf(id) > 0; });
}

// The number of calls that launched work, if the trace has no GPU work at all; else 0.
uint64_t LaunchesWithoutRows(const TraceAnalysis& trace) {
  if (trace.notes.CountOf(NoteId::kNoGpuEvents) == 0) return 0;
  uint64_t calls = 0;
  for (const ApiRow& row : trace.launches.apis)
    if (LaunchesWork(row.name)) calls += row.stats.count;
  return calls;
}

bool HasUnreadRows(const TraceAnalysis& trace) {
  return trace.notes.CountOf(NoteId::kDeviceRowsNotRead) > 0;
}

// Whether the trace has a loss that needs the general sentence of LossInWords. Four losses have
// sentences of their own and do not count here: device rows that are not read, no GPU work at all,
// device times that are refused, and losses that only the profiler reports.
bool LacksMore(const TraceAnalysis& trace) {
  return trace.counts.total == 0 || (LacksIdleTime(trace) && !LacksRows(trace)) ||
         std::ranges::any_of(trace.notes.list(), [](const Note& note) {
           return KindOf(note.id).severity == Severity::kDataLoss &&
                  note.id != NoteId::kTimesRefused && note.id != NoteId::kProducerLostEvents;
         });
}

// `launched`: whether calls launched work.
std::string NoDeviceWork(bool launched, std::string_view where) {
  return launched
             ? fmt::format("no device work is recorded {}, although calls launched some", where)
             : fmt::format("no device work {}", where);
}

// The note that explains why there is no device time, if there is one.
std::optional<NoteId> ReasonOfNoTimes(const TraceAnalysis& trace) {
  if (!trace.integrity.device_times()) return NoteId::kTimesRefused;
  for (const NoteId id : {NoteId::kRangeProfiler, NoteId::kDeviceRowsNotRead})
    if (trace.notes.CountOf(id) > 0) return id;
  return std::nullopt;
}

}  // namespace

std::string LossText(const LostWork& lost) {
  if (!lost.any()) return lost.cut_off > 0 ? CutOffText(lost) : "";
  std::string text;
  if (lost.lost_calls > 0) {
    const bool one_api = lost.apis.size() == 1;
    const std::string pattern = PatternText(lost);
    text = fmt::format("GPU work of {} of {} {}calls is missing{}{}", FormatCount(lost.lost_calls),
                       FormatCount(one_api ? lost.apis.front().calls : lost.calls),
                       one_api ? NameInSentence(lost.apis.front().name) + " " : "launch and copy ",
                       pattern.empty() ? "" : ": ", pattern);
  }
  if (lost.partial_graphs > 0) {
    text +=
        fmt::format("{}{} {} other replays of the same graph have", text.empty() ? "" : ", and ",
                    FormatCounted(lost.partial_graphs, "graph launch lacks", "graph launches lack"),
                    FormatCounted(lost.lost_events - lost.lost_calls, "piece of work that",
                                  "pieces of work that"));
  }
  return text;
}

bool IsWhole(const TraceAnalysis& trace) {
  return trace.counts.total > 0 && !trace.notes.lost_data() && trace.idle.known &&
         !LacksRows(trace) && !HasUnreadRows(trace);
}

bool LacksIdleTime(const TraceAnalysis& trace) {
  return trace.integrity.device_times() && !trace.idle.known;
}

bool LacksRows(const TraceAnalysis& trace) { return LaunchesWithoutRows(trace) > 0; }

std::string MissingWorkText(const RunAnalysis& run) {
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  const auto missing = std::ranges::count_if(ranks, [](const TraceAnalysis* trace) {
    return trace->integrity.lost.any() || LacksIdleTime(*trace) || LaunchesWithoutRows(*trace) > 0;
  });
  return fmt::format("GPU work is missing in {} of {} traces", missing, ranks.size());
}

bool LacksWork(const TraceAnalysis& trace) {
  const LostWork& lost = trace.integrity.lost;
  return lost.any() || lost.cut_off > 0 || trace.notes.ends_early() || LacksIdleTime(trace) ||
         LacksRows(trace) || HasUnreadRows(trace);
}

std::string LossInWords(const TraceAnalysis& trace) {
  if (trace.counts.total == 0) return "the file holds no event";
  std::vector<std::string> parts;
  if (std::string loss = LossText(trace.integrity.lost); !loss.empty())
    parts.push_back(std::move(loss));
  else if (const uint64_t calls = LaunchesWithoutRows(trace); calls > 0)
    parts.push_back(fmt::format("no GPU work is recorded, although {} launched some",
                                FormatCounted(calls, "call")));
  else if (trace.notes.lost_data())
    parts.push_back(LossInNotes(trace.notes));
  if (const uint64_t rows = trace.notes.CountOf(NoteId::kDeviceRowsNotRead); rows > 0)
    parts.push_back(FormatCounted(rows, "device row") + " not read");
  if (!parts.empty()) return fmt::format("{}", fmt::join(parts, "; "));
  return CanTellLoss(trace) ? kNoEventLost : kCannotTellLoss;
}

std::string LossInWords(const RunAnalysis& run) {
  if (const TraceAnalysis* only = OnlyTrace(run)) return LossInWords(*only);
  const auto count = [](const auto& traces, const auto& has) {
    return static_cast<uint64_t>(std::ranges::count_if(traces, has));
  };
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  const uint64_t rowless =
      count(ranks, [](const TraceAnalysis* trace) { return LacksRows(*trace); });
  const uint64_t unread =
      count(ranks, [](const TraceAnalysis* trace) { return HasUnreadRows(*trace); });
  const uint64_t refused =
      count(ranks, [](const TraceAnalysis* trace) { return !trace->integrity.device_times(); });
  const uint64_t may_lack = count(ranks, [](const TraceAnalysis* trace) {
    return trace->notes.CountOf(NoteId::kProducerLostEvents) > 0;
  });
  const uint64_t incomplete = count(run.traces, LacksMore);
  std::vector<std::string> parts;
  if (incomplete > 0) {
    uint64_t calls = 0, lost = 0, partial = 0;
    for (const TraceAnalysis* trace : ranks) {
      calls += trace->integrity.lost.calls;
      lost += trace->integrity.lost.lost_calls;
      partial += trace->integrity.lost.partial_graphs;
    }
    // Counts partial graph launches too, as `tacho compare` and the note do.
    parts.push_back(FormatCounted(incomplete, "trace") + " incomplete" +
                    (lost + partial == 0
                         ? ""
                         : fmt::format(": {}GPU work of {} of {} launch and copy calls is missing",
                                       HowMuchIsLost(partial, lost + partial),
                                       FormatCount(lost + partial), FormatCount(calls))));
  }
  const auto in = [&](uint64_t some, std::string_view what) {
    return fmt::format("in {} of {} traces {}", some, ranks.size(), what);
  };
  if (rowless > 0)
    parts.push_back(in(rowless, "no GPU work is recorded, although calls launched some"));
  if (unread > 0) parts.push_back(in(unread, "device rows are not read"));
  if (refused > 0) parts.push_back(in(refused, "the device's times are refused"));
  if (may_lack > 0) parts.push_back(in(may_lack, kMayBeMissing));
  if (!parts.empty()) return fmt::format("{}", fmt::join(parts, "; "));
  const uint64_t untold =
      count(ranks, [](const TraceAnalysis* trace) { return !CanTellLoss(*trace); });
  const uint64_t cut_off =
      count(ranks, [](const TraceAnalysis* trace) { return trace->integrity.lost.cut_off > 0; });
  if (untold == 0 && cut_off > 0)
    return in(cut_off, "the recording ends before the work of the last calls");
  if (untold == 0) return kNoEventLost;
  return untold == ranks.size() ? kCannotTellLoss : in(untold, kCannotTellLoss);
}

std::string ClocksText(const std::vector<DeviceClock>& clocks) {
  std::string text;
  for (const DeviceClock& clock : clocks) {
    if (clock.state == DeviceClock::State::kRight) continue;
    text += (text.empty() ? "" : "; ") + ClockText(clock);
  }
  return text;
}

std::string StopsText(const RecorderStops& stops, Interval span) {
  if (!stops.any()) return "";
  std::vector<std::string> when;
  if (stops.began)
    when.push_back(fmt::format("begins {} after", FormatDuration(*stops.began - span.start)));
  if (stops.stopped)
    when.push_back(fmt::format("stops {} before", FormatDuration(span.end - *stops.stopped)));
  return fmt::format(
      "the recording of calls and GPU work {} the trace does ({} like {} hold no call there; all "
      "others do)",
      fmt::join(when, " and "), FormatCounted(stops.before + stops.after, "range"),
      NameInSentence(stops.witness));
}

std::string WhyNoIdleTime(const TraceAnalysis& trace) {
  const Integrity& integrity = trace.integrity;
  if (!integrity.device_times()) return ImpossibleText(integrity.impossible);
  // If the recorder stopped early and no other work is lost, the reason is the stop, not the few
  // calls whose work it cut off.
  return integrity.stops.any() && !integrity.lost.any() ? StopsText(integrity.stops, trace.span)
                                                        : LossText(integrity.lost);
}

std::string SaidWhyNoDeviceTime(const TraceAnalysis& trace) {
  const std::optional<NoteId> reason = ReasonOfNoTimes(trace);
  if (!reason) return "";
  if (reason == NoteId::kTimesRefused)
    return "device time cannot be told: " + ImpossibleText(trace.integrity.impossible);
  if (reason == NoteId::kRangeProfiler)
    return "no device time: the range profiler ran, which counts hardware events for each range "
           "and records no times of kernels; record again without profiler_metrics";
  const auto note = std::ranges::find(trace.notes.list(), *reason, &Note::id);
  return fmt::format(
      "device time cannot be told: device rows of {} are not read ({} of an accelerator)",
      note->where, FormatCounted(note->count, "event"));
}

std::string SaidWhyNoDeviceTime(const RunAnalysis& run) {
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  const auto first = std::ranges::find_if(
      ranks, [](const TraceAnalysis* trace) { return ReasonOfNoTimes(*trace).has_value(); });
  if (first == ranks.end()) return "";
  std::string why = SaidWhyNoDeviceTime(**first);
  if (ranks.size() == 1) return why;
  const auto same = std::ranges::count_if(ranks, [&](const TraceAnalysis* trace) {
    return ReasonOfNoTimes(*trace) == ReasonOfNoTimes(**first);
  });
  return fmt::format("{}; so it is in {} of {} traces", why, same, ranks.size());
}

std::string WhyNoDeviceTime(const TraceAnalysis& trace) {
  std::string said = SaidWhyNoDeviceTime(trace);
  return said.empty() ? NoDeviceWork(LacksRows(trace), Whereabouts(trace)) : said;
}

std::string WhyNoDeviceTime(const RunAnalysis& run) {
  if (const TraceAnalysis* only = OnlyTrace(run)) return WhyNoDeviceTime(*only);
  if (std::string said = SaidWhyNoDeviceTime(run); !said.empty()) return said;
  return NoDeviceWork(
      std::ranges::any_of(RanksOf(run),
                          [](const TraceAnalysis* trace) { return LacksRows(*trace); }),
      Whereabouts(run));
}

std::string ImpossibleText(const ImpossibleWork& work) {
  if (work.count() == 0) return "";
  return fmt::format(
      "{} of {} pieces of GPU work outside of graphs lie out of the order of their launches or on "
      "top of each other",
      FormatCount(work.count()), FormatCount(work.compared));
}

}  // namespace tacho
