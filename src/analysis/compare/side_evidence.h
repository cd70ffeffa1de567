#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/compared_ranks.h"

namespace tacho {

// How far the figures of one side of a comparison can be trusted (analysis/evidence/), summed over
// its traces.
struct SideEvidence {
  // Number of launch and copy calls, and how many of them lack some or all of their GPU work. If
  // all traces lost work of the same single API (`api`), both numbers are of that API only.
  uint64_t calls = 0, lost_calls = 0;
  std::string api;
  uint64_t partial_graphs = 0;  // how many of the lost calls lack only a part of their work
  uint64_t cut_off = 0;         // number of other calls, whose work the recording's end cut off
  // The pattern of loss, if all traces that lost work have the same; else absent.
  std::optional<LossPattern> pattern;
  // True: in all traces, work is lost only at the edges (LostWork::at_edges).
  bool at_edges = true;
  // True: data is lost, but only GPU work of calls or its times.
  bool only_lost_work = false;
  // Number of steps of all ranks, and how many of them have no device time, because some of their
  // work is lost, its launch is missing, or its times are refused.
  struct Steps {
    uint64_t all = 0, untimed = 0;
  };
  std::map<Phase, Steps> steps;
  uint64_t work = 0, unlaunched_work = 0;  // pieces of GPU work; how many have no launch call
  // Whether the causes of idle time are known, or why not.
  enum class NoCauses : uint8_t { kKnown, kClockOff, kClockDrifts, kLostWork };
  NoCauses no_causes = NoCauses::kKnown;
  bool idle_known = true;                 // it is known when the devices were idle
  uint64_t ranks = 0, untimed_ranks = 0;  // untimed: launched GPU work, but has no times of it
  // Why the side has no device work, in words to follow its name: "holds several ranks ..."; "" if
  // the reason is unknown.
  std::string why_no_work;

  [[nodiscard]] bool lost_work() const { return lost_calls > 0; }
  [[nodiscard]] double unlaunched_share() const {
    return work == 0 ? 0 : static_cast<double>(unlaunched_work) / static_cast<double>(work);
  }
  // Whether so much work is missing that kernels cannot be counted.
  [[nodiscard]] bool lacks_much() const { return lost_work() || 100 * cut_off > calls; }
  // Such as "GPU work of 400 of 929 calls, the first of the recording".
  [[nodiscard]] std::string LostCalls() const;
  // Such as "1 of 4 ranks of new has no times of GPU work" if only some ranks are untimed; else "".
  [[nodiscard]] std::string UntimedRanks(std::string_view side) const;
  // Such as "35 of its 40 decode steps", which have no device time; "" if all have it.
  [[nodiscard]] std::string UntimedSteps(Phase phase) const;
};
SideEvidence EvidenceOf(const SideRanks& runs);
SideEvidence EvidenceOf(const std::vector<RunAnalysis>& runs);
// Whether a trace is cut off or damaged, by more than the loss of GPU work.
bool IsCutOff(const Notes& notes);
// Whether the trace has no device times though GPU work was launched, or may have been.
bool LacksTimes(const TraceAnalysis& trace);

// The name of `side` ("base" or "new") before a verb: "the new run", as "new lost" would be
// misread.
std::string_view RunOf(std::string_view side);
// Such as "the new run lost GPU work of 400 of 929 calls, the first of the recording". If work is
// only cut off: "new ends before the work of its last 400 calls". "" if no side lacks much.
std::string LossText(const SideEvidence& base, const SideEvidence& now);
// Such as "new's device clock is off against the host's"; "" if both sides know the causes of idle
// time.
std::string WhyNoCauses(const SideEvidence& base, const SideEvidence& now);
// Such as "50 % of new's GPU work has no launch call", if this share differs between the sides, so
// that their numbers of calls cannot be compared; else "".
std::string WhyNoCalls(const SideEvidence& base, const SideEvidence& now);

}  // namespace tacho
