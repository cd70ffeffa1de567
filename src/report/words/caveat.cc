#include "report/words/caveat.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/device_totals.h"
#include "report/words/idle_words.h"
#include "report/words/integrity_words.h"
#include "text/format_number.h"

namespace tacho {
namespace {

// From CUDA 12.6 update 2 to 13.0, the first records of a session may have times that no trace can
// hold, so they are lost.
bool LosesTheFirst(int64_t cupti_version) { return cupti_version >= 24 && cupti_version < 130100; }

// What to say about lost work if idle time is still known. `only`: the only trace; null if there
// are several.
std::string LostWorkText(const TraceAnalysis* only) {
  if (only == nullptr) return "GPU work that was launched is missing";
  const LostWork& lost = only->integrity.lost;
  std::string text = LossText(lost);
  if (lost.pattern == LossPattern::kStart && LosesTheFirst(only->header.cupti_version))
    text += ", as CUPTI before CUDA 13.1 loses them";
  if (lost.in_doubt.ns == 0)
    return lost.at_edges() ? text + "; the figures are of the rest of the recording" : text;
  return text + fmt::format(", so up to {} of the idle time may have been busy",
                            FormatDuration(lost.in_doubt));
}

// `only`: the only trace; null if there are several.
std::string DoubtText(Doubt doubt, const TraceAnalysis* only) {
  switch (doubt) {
    case Doubt::kLostWork:
      return LostWorkText(only);
    case Doubt::kRecorderStopped:
      return only != nullptr ? StopsText(only->integrity.stops, only->span)
                             : "calls and GPU work were recorded for a part of the trace only";
    case Doubt::kTimesRefused:
      return "the device's times are refused: they lie out of the order of their launches";
    case Doubt::kClockOff:
      return (only != nullptr ? ClocksText(only->integrity.clocks)
                              : "the device's clock is off against the host's") +
             ", so delays of launches and causes of idle time cannot be told";
    case Doubt::kImpossibleOrder:
      return only != nullptr ? ImpossibleText(only->integrity.impossible)
                             : "pieces of GPU work lie out of the order of their launches";
    case Doubt::kEventsMissing:
      return "events are missing, so what looks idle may have been busy";
    case Doubt::kRecordsDropped:
      return "the profiler says that events are missing, or may be, so what looks idle may have "
             "been busy";
    case Doubt::kEarlierWork:
      return "the first work that was launched waited long while nothing recorded ran: the device "
             "may "
             "have been busy with work launched before the recording began";
    case Doubt::kPythonStacks:
      return "Python stacks slowed the host, so its share of the idle time is inflated";
  }
  return "";
}

// Whether LossInWords already names this doubt about a run.
bool IsLoss(Doubt doubt) {
  return doubt == Doubt::kLostWork || doubt == Doubt::kTimesRefused ||
         doubt == Doubt::kEventsMissing || doubt == Doubt::kRecordsDropped;
}

std::string CaveatOf(const std::vector<const TraceAnalysis*>& traces, bool beside_loss = false) {
  const bool verdict_counts_lost =
      std::ranges::any_of(traces, [](const TraceAnalysis* trace) { return LacksIdleTime(*trace); });
  // Traces without device time do not count, unless no trace has any.
  const bool timed = std::ranges::any_of(
      traces, [](const TraceAnalysis* trace) { return !trace->devices.empty(); });
  std::string out;
  for (const Doubt doubt : {Doubt::kLostWork, Doubt::kRecorderStopped, Doubt::kTimesRefused,
                            Doubt::kClockOff, Doubt::kImpossibleOrder, Doubt::kEventsMissing,
                            Doubt::kRecordsDropped, Doubt::kEarlierWork, Doubt::kPythonStacks}) {
    if (beside_loss && IsLoss(doubt)) continue;
    const auto doubtful =
        static_cast<size_t>(std::ranges::count_if(traces, [&](const TraceAnalysis* trace) {
          const bool counts = doubt != Doubt::kEventsMissing || !timed || !trace->devices.empty();
          return counts && HasDoubt(*trace, doubt);
        }));
    if (doubtful == 0 || (doubt == Doubt::kLostWork && verdict_counts_lost)) continue;
    // If the times of all traces are refused, the verdict says so.
    if (doubt == Doubt::kTimesRefused && doubtful == traces.size()) continue;
    if (!out.empty()) out += "; ";
    if (traces.size() > 1) out += fmt::format("in {} of {} traces ", doubtful, traces.size());
    // Without device time, no time "looks idle".
    out += doubt == Doubt::kEventsMissing && !timed
               ? "events are missing"
               : DoubtText(doubt, traces.size() == 1 ? traces.front() : nullptr);
  }
  return out;
}

}  // namespace

std::string Caveat(const TraceAnalysis& trace) { return CaveatOf({&trace}); }
std::string Caveat(const RunAnalysis& run) { return CaveatOf(RanksOf(run)); }
std::string CaveatBesideLoss(const RunAnalysis& run) { return CaveatOf(RanksOf(run), true); }

}  // namespace tacho
