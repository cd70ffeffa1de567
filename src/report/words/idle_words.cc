#include "report/words/idle_words.h"

#include <fmt/format.h>

#include "analysis/device/profiler_overhead.h"
#include "text/fit_name.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

// The sentence about idle time in profiler overhead. `name`: the overhead with the most time.
std::string OverheadSentence(std::string_view name, std::string_view share) {
  const bool is_its_own = KindOfOverhead(name).owner == OverheadOwner::kProfiler;
  return fmt::format("{} for {}{}",
                     is_its_own ? "the profiler itself held the launching thread up"
                                : "what the profiler calls overhead held the launching thread up",
                     share, name.empty() ? "" : ", most of it " + OverheadInWords(name));
}

}  // namespace

std::string OverheadInWords(std::string_view name) {
  const std::string_view words = KindOfOverhead(name).words;
  return NameInSentence(name) + (words.empty() ? "" : fmt::format(" ({})", words));
}

std::string_view MeaningOf(IdleCause cause, Requests requests) {
  switch (cause) {
    case IdleCause::kHostLate:
      return "the host had not yet launched the next work";
    case IdleCause::kInLaunchCall:
      return "the call that launches the next work was still running";
    case IdleCause::kLaunchLatency:
      return "launched, but not yet on the device (up to 1 ms)";
    case IdleCause::kWaiting:
      return "launched, but held back by an event or another queue";
    case IdleCause::kQueued:
      return "launched before the device became idle, but started late";
    case IdleCause::kInGraph:
      return "between the pieces of one graph launch";
    case IdleCause::kHost:
      return "the executing thread was in no operator";
    case IdleCause::kInOperator:
      return "the executing thread was in an operator that only calls others, in none of them";
    case IdleCause::kBetweenSteps:
      return requests == Requests::kKnown
                 ? "requests were in flight, but no engine step ran"
                 : "no engine step ran: there was no work, or the host had not begun it";
    case IdleCause::kNoRequest:
      return "no request of tacho's load was in flight";
    case IdleCause::kProfiler:
      return "overhead of the launching thread, the profiler's own or CUDA's";
    case IdleCause::kUnknown:
      return "its launch is missing or on another clock, or missing GPU work may have run then";
    case IdleCause::kCount:
      break;
  }
  return "";
}

std::string IdleCauseText(const IdleCauseRow& row, Requests requests, const std::string& share) {
  switch (row.cause) {
    case IdleCause::kHostLate:
      return fmt::format("the host launched late for {}", share);
    case IdleCause::kInLaunchCall:
      return fmt::format("the host was inside {} for {}",
                         row.call.empty() ? "launch calls" : NameInSentence(row.call), share);
    case IdleCause::kWaiting:
      return fmt::format(
          "work {}was held back by an event or another queue for {}",
          row.call.empty() ? "" : fmt::format("launched by {} ", NameInSentence(row.call)), share);
    case IdleCause::kLaunchLatency:
      return fmt::format("launches on their way to the device make {}", share);
    case IdleCause::kQueued:
      return fmt::format("work that was launched in time waited on the device for {}", share);
    case IdleCause::kInGraph:
      return fmt::format("gaps inside graph launches make {}", share);
    case IdleCause::kHost:
      return fmt::format("the executing thread was in no operator for {}", share);
    case IdleCause::kInOperator:
      return fmt::format("the executing thread was in operators that only call others for {}",
                         share);
    case IdleCause::kBetweenSteps:
      return requests == Requests::kKnown
                 ? fmt::format("requests were in flight, but no engine step ran for {}", share)
                 : fmt::format(
                       "no engine step ran for {}: there was no work, or the host had not begun "
                       "it",
                       share);
    case IdleCause::kNoRequest:
      return fmt::format("no request was in flight for {}", share);
    case IdleCause::kProfiler:
      return OverheadSentence(row.call, share);
    case IdleCause::kUnknown:
      return fmt::format("the cause of {} is unknown", share);
    case IdleCause::kCount:
      break;
  }
  return "";
}

std::string MainIdleCause(const IdleTable& idle) {
  const IdleCauseRow& main = idle.causes.front();
  return IdleCauseText(main, idle.requests,
                       fmt::format("{}{} of the idle time", IsAtLeast(idle) ? "at least " : "",
                                   FormatShare(main.total, idle.window - idle.busy)));
}

std::string NameInSentence(std::string_view name) { return FitName(VisibleText(name), 40, false); }

}  // namespace tacho
