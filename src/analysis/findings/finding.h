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
  kIdle,         // the devices were idle, for one cause
  kWait,         // other ranks waited in collectives for one rank
  kSkew,         // the rest of the waiting in collectives: no rank stands out
  kTransfer,     // exposed communication without the waiting
  kExposedComm,  // exposed communication, if it is not known how much of it is waiting
  kExposedCopies,
  kComputes,  // one rank computes longer than the others: the time beyond their median
  kRequests,  // the requests' time, by part
};

// What the cost of a finding is a share of. Costs of one whole do not overlap, so they add up to it
// at most.
enum class FindingWhole : uint8_t {
  kWindow,              // the windows of all devices together
  kWindowWithRequests,  // the same without the time in which no request was in flight
  // From due to last token, over the requests that were answered in full and whose time is split.
  kRequests,
};
std::string_view WholeId(FindingWhole whole);  // "window", "window-with-requests", "requests"

enum class Confidence : uint8_t {
  kMeasured,
  // A part of the whole has no known cause; of waits: a part of the communication may be waiting.
  kAtLeast,
  kAtMost,      // work is missing that may have run then; of the transfer: it may hold waits
  kAbout,       // both
  kCannotTell,  // there is no cost: see WhyUnknown
};
std::string_view ConfidenceId(Confidence confidence);  // "measured", "at-least", ...

// Why a cost, or the cause of it, is not known.
enum class WhyUnknown : uint8_t {
  kNothing,       // it is known
  kLostWork,      // work is missing, so it is unknown when the devices were idle
  kTimesRefused,  // no device has times: they contradict the launches
  kClocks,        // host and device have no common clock, so idle time has no cause
  kBlame,         // RankBlame::absent says why no wait is charged to a rank
  kFewMatched,    // most communication kernels match none of another rank
  kJoin,          // RequestAnalysis::why says why the requests are not joined with steps
  kSplit,         // they are joined, but the time of none is split
};
std::string_view WhyUnknownId(WhyUnknown because);  // "lost-work", ...; "" for kNothing

// Time that was lost: the trace, the run or the load shows that it could be less.
struct RunFinding {
  // Where a part of the cost lies.
  struct Place {
    size_t trace = 0;  // index into the run's traces
    DurationNs cost;
    // Of kIdle: the longest listed gap of the trace that is mostly of this cause, as an index into
    // IdleTable::gaps.
    std::optional<size_t> gap = {};
  };

  RunFindingKind kind = RunFindingKind::kIdle;
  IdleCause idle = IdleCause::kUnknown;      // of kIdle
  RequestPart part = RequestPart::kUnknown;  // of kRequests
  std::optional<Straggler> rank = {};        // of kWait and kComputes; of kExposedComm if known
  std::string call = {};                     // of kIdle: as in IdleCauseRow
  Requests requests = Requests::kUnknown;    // of kIdle: as in IdleTable
  std::string id = {};                       // unique in its list: "idle.host-late", "wait.TP3"
  Confidence confidence = Confidence::kMeasured;
  WhyUnknown because = WhyUnknown::kNothing;
  DurationNs cost = {};  // above 0, unless kCannotTell
  FindingWhole of = FindingWhole::kWindow;
  DurationNs whole = {};
  std::vector<Place> places = {};  // most cost first, then by trace
  std::string request = {};        // of kRequests: the request with the most time of this part
  // Of kRequests: `answered` requests were answered in full, and `whole` is the time of `split` of
  // them.
  uint64_t split = 0, answered = 0;

  [[nodiscard]] bool known() const { return confidence != Confidence::kCannotTell; }
  [[nodiscard]] double share() const { return ShareOf(cost, whole); }
};

}  // namespace tacho
