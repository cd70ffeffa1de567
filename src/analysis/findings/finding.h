#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/idle_table.h"
#include "analysis/ranks/ranks.h"
#include "analysis/requests/request_parts.h"
#include "base/share.h"

namespace tacho {

// What a finding is about.
enum class RunFindingKind : uint8_t {
  kIdle,         // the devices were idle for one cause
  kWait,         // other ranks waited in collectives for one rank
  kSkew,         // other waiting in collectives, for ranks that do not stand out
  kTransfer,     // exposed communication without the waiting
  kExposedComm,  // exposed communication, if it is not known how much of it is waiting
  kExposedCopies,
  kAboveRoof,  // kernels beyond what the hardware needs for the model's work (roofline.h)
  kComputes,   // one rank computes longer than the median of the others; the cost is the difference
  kRequests,   // one part of the requests' time
};

// A finding's whole: its cost is given as a share of this time. Findings that have the same whole
// do not overlap, so the sum of their costs does not exceed it.
enum class FindingWhole : uint8_t {
  kWindow,              // the windows of all devices together
  kWindowWithRequests,  // kWindow without the time in which no request was in flight
  // The time from due to last token of all requests that were answered in full and whose time is
  // split into parts, without the time outside of the recording.
  kRequests,
};
std::string_view WholeId(FindingWhole whole);  // "window", "window-with-requests", "requests"

enum class Confidence : uint8_t {
  kMeasured,
  // The cost may be higher: a part of the whole has no known cause or, for waits, more of the
  // communication may be waiting.
  kAtLeast,
  // The cost may be lower: missing work may have run in this time or, for transfer, some of it may
  // be waiting.
  kAtMost,
  kAbout,       // the cost may be higher or lower
  kCannotTell,  // the cost is not known: see WhyUnknown
};
std::string_view ConfidenceId(Confidence confidence);  // "measured", "at-least", ...

// Why the cost of a finding, or its cause, is not known.
enum class WhyUnknown : uint8_t {
  kNothing,       // both are known
  kLostWork,      // work is missing, so it is unknown when the devices were idle
  kTimesRefused,  // no device has times: they contradict the launches
  kClocks,        // host and device have no common clock, so idle time has no cause
  kBlame,         // waits are not known: RankBlame::absent says why
  kFewMatched,    // most communication kernels match no kernel of another rank
  kJoin,          // requests are not joined with steps: RequestAnalysis::why says why
  kSplit,         // requests are joined with steps, but the time of none could be split
};
std::string_view WhyUnknownId(WhyUnknown because);  // "lost-work", ...; "" for kNothing

// One reason for which a trace, a run or a load took longer than it could.
struct RunFinding {
  // Where a part of the cost lies.
  struct Place {
    size_t trace = 0;  // index into the run's traces
    DurationNs cost;
    // Set for kIdle: the longest listed gap of the trace whose main cause is this one, as an index
    // into IdleTable::gaps.
    std::optional<size_t> gap = {};
  };

  RunFindingKind kind = RunFindingKind::kIdle;
  IdleCause idle = IdleCause::kUnknown;      // set for kIdle
  RequestPart part = RequestPart::kUnknown;  // set for kRequests
  std::optional<Straggler> rank = {};      // set for kWait and kComputes; for kExposedComm if known
  std::string call = {};                   // set for kIdle: IdleCauseRow::call
  Requests requests = Requests::kUnknown;  // set for kIdle: IdleTable::requests
  std::string id = {};                     // unique in its list: "idle.host-late", "wait.TP3"
  Confidence confidence = Confidence::kMeasured;
  WhyUnknown because = WhyUnknown::kNothing;
  DurationNs cost = {};  // above 0, unless kCannotTell
  FindingWhole of = FindingWhole::kWindow;
  DurationNs whole = {};
  std::vector<Place> places = {};  // sorted by cost, largest first, then by trace
  std::string request = {};  // set for kRequests: the id of the request with the most of this part
  // Set for kRequests: how many requests were answered in full, and how many of them are split;
  // `whole` is the time of these. `cut`: a part of it lies outside of the recording, and is left
  // out.
  uint64_t split = 0, answered = 0;
  bool cut = false;

  [[nodiscard]] bool known() const { return confidence != Confidence::kCannotTell; }
  // kRequests: whether so few of the requests are split that the others may be of another kind.
  [[nodiscard]] bool few_split() const { return 2 * split < answered; }
  [[nodiscard]] double share() const { return ShareOf(cost, whole); }
};

}  // namespace tacho
