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

// What the traces of one side of a comparison say about their own figures (analysis/evidence/).
struct SideEvidence {
  // Launch and copy calls, and those of them that lack some or all of their GPU work. If all traces
  // lost calls of one API alone (`api`), both count that API alone.
  uint64_t calls = 0, lost_calls = 0;
  std::string api;
  uint64_t partial_graphs = 0;  // lost calls that lack only a part
  uint64_t cut_off = 0;         // other calls: the recording ends before their work
  // The pattern of all traces that lost any; absent if they differ.
  std::optional<LossPattern> pattern;
  // In all traces, nothing is lost between the edges (LostWork::at_edges).
  bool at_edges = true;
  // Data is lost, and all of it is GPU work of calls or its times.
  bool only_lost_work = false;
  // Steps of all ranks, and how many of them have no device time: work of theirs is lost, its
  // launch is missing, or its times are refused.
  struct Steps {
    uint64_t all = 0, untimed = 0;
  };
  std::map<Phase, Steps> steps;
  uint64_t work = 0, unlaunched_work = 0;  // GPU work, and how much of it has no launch call
  // Why causes of idle time are not known.
  enum class NoCauses : uint8_t { kKnown, kClockOff, kClockDrifts, kLostWork };
  NoCauses no_causes = NoCauses::kKnown;
  bool idle_known = true;                 // when the devices were idle
  uint64_t ranks = 0, untimed_ranks = 0;  // untimed: without times of the GPU work they launched
  // Why a side has no work of a device, as text to follow its name: "holds several ranks ..."; ""
  // if the reason is unknown.
  std::string why_no_work;

  [[nodiscard]] bool lost_work() const { return lost_calls > 0; }
  [[nodiscard]] double unlaunched_share() const {
    return work == 0 ? 0 : static_cast<double>(unlaunched_work) / static_cast<double>(work);
  }
  // Lacks so much work that kernels cannot be counted.
  [[nodiscard]] bool lacks_much() const { return lost_work() || 100 * cut_off > calls; }
  // "GPU work of 400 of 929 calls, the first of the recording".
  [[nodiscard]] std::string LostCalls() const;
  // Where only some ranks are untimed: "1 of 4 ranks of new has no times of GPU work"; else "".
  [[nodiscard]] std::string UntimedRanks(std::string_view side) const;
  // "35 of its 40 decode steps" have no device time; "" if all have it.
  [[nodiscard]] std::string UntimedSteps(Phase phase) const;
};
SideEvidence EvidenceOf(const SideRanks& runs);
SideEvidence EvidenceOf(const std::vector<RunAnalysis>& runs);
// Whether a trace is cut off or damaged by more than the loss of GPU work.
bool IsCutOff(const Notes& notes);
// Whether GPU work was launched, or may have been, and none of it has times.
bool LacksTimes(const TraceAnalysis& trace);

// How to name `side` ("base" or "new") before a verb: "new lost" reads as "newly lost".
std::string_view RunOf(std::string_view side);
// "the new run lost GPU work of 400 of 929 calls, the first of the recording", or where nothing is
// lost "new ends before the work of its last 400 calls"; "" if no side lacks any.
std::string LossText(const SideEvidence& base, const SideEvidence& now);
// "new's device clock is off against the host's"; "" if both sides know the causes of idle time.
std::string WhyNoCauses(const SideEvidence& base, const SideEvidence& now);
// "50 % of new's GPU work has no launch call", if more calls are missing on one side than on the
// other, so that the numbers of calls say nothing; else "".
std::string WhyNoCalls(const SideEvidence& base, const SideEvidence& now);

}  // namespace tacho
