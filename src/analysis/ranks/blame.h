#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/idle_table.h"
#include "analysis/ranks/collective_sizes.h"
#include "analysis/ranks/comm_candidates.h"
#include "analysis/ranks/comm_groups.h"
#include "analysis/ranks/expert_balance.h"
#include "analysis/ranks/skew_events.h"

namespace tacho {

// Which ranks of a run the others waited for in collectives, for how long, and why these ranks were
// late (skew_charges.h).

// What the time in collectives was spent on.
enum class SkewClass : uint8_t {
  kTransfer,      // at most a third of it was waiting
  kArrivalSkew,   // two thirds or more were waiting
  kMixed,         // in between
  kInconclusive,  // the ends of the collectives agree too little to say which of these
  kCount,
};
std::string_view SkewClassId(SkewClass type);  // "transfer", "arrival-skew", ...

// What a rank did longer than those that waited for it.
struct SkewCause {
  enum class Kind : uint8_t {
    kIdle,         // it was idle, by cause
    kCompute,      // by category
    kCopies,       // copies and memsets
    kCollectives,  // communication: transfer in other collectives, or kernels without a match
    kUnknown,      // nothing that was recorded; or the ranks had shared no collective before
    kTooShort,     // the wait is too short for the ends of collectives to show whom it was for
  };
  Kind kind = Kind::kUnknown;
  IdleCause idle = IdleCause::kUnknown;  // of kIdle
  std::string category = {};             // of kCompute
  DurationNs time = {};

  [[nodiscard]] std::string Id() const;  // "idle.host-late", "compute.gemm.dense", "copies"
  // The host launched late, or had not begun the step.
  [[nodiscard]] bool IsHost() const;
};

struct RankBlame {
  // Why there is no figure.
  enum class Absent : uint8_t {
    kNo,             // there are figures
    kNoEvents,       // one trace, or results that were read back
    kNoCollectives,  // no rank ran communication kernels
    kNoMatch,        // nothing says which kernels of two ranks are one collective
    kClocks,         // the ends of matching kernels do not agree on any two ranks
    kOutside,        // all collectives lie outside the part of the traces that was asked for
    kOnHost,         // engines on the CPU, whose waits are not looked at; AnalyzeRun sets it
  } absent = Absent::kNoEvents;

  // A rank that took part in collectives.
  struct Row {
    size_t rank = 0;  // index into `ranks`
    size_t collectives = 0;
    size_t last = 0;  // in how many of them others waited for it
    DurationNs transfer, suffered, caused;
    // How much later than the median of the others it came to collectives, summed; below 0:
    // earlier.
    DurationNs late;
    std::vector<SkewCause> caused_by;  // adds up to `caused`; longest first, then by id
    // It caused far more than chance explains (StandsOut in blame.cc).
    bool stands_out = false;
  };
  // Ranks that have a kind of collective in common.
  struct Group {
    GroupKind kind = GroupKind::kOther;
    std::string name;           // of the process group; "" if the traces have none
    std::vector<size_t> ranks;  // indexes into `ranks`, ascending
    size_t collectives = 0;
    DurationNs transfer, waits;  // over its ranks
    SkewClass type = SkewClass::kInconclusive;
  };

  SkewClass type = SkewClass::kInconclusive;
  DurationNs transfer, waits;  // over all ranks; together the time in collectives
  size_t collectives = 0;
  std::array<size_t, static_cast<size_t>(SkewClass::kCount)> of_class = {};  // collectives
  // Share of the ranks' communication kernels that are in a matched collective, 0..1.
  double matched_share = 0;
  // How far the ends of a collective differ between ranks: the largest ClockResidual::spread. A
  // shorter wait is kTooShort.
  DurationNs residual;
  std::vector<Row> table;             // by rank
  std::vector<Group> groups;          // by kind, then first rank, then name
  std::vector<CollectiveSize> sizes;  // of collectives whose traces have their size
  size_t sizes_left_out = 0;          // rows with less transfer time than these
  ExpertBalance experts;
};

// `ranks` and `digests` correspond. Over the table, `caused` and `suffered` add up to `waits`; so
// do the groups' waits. Cost: that of MatchCollectives and ChargeSkew.
RankBlame BlameRanks(const std::vector<CommRank>& ranks, const DigestsOfRanks& digests);

}  // namespace tacho
