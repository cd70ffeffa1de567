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

// Finds which ranks of a run the others waited for in collectives, for how long, and why these
// ranks were late. The method is in skew_charges.h.

// What most of the time in collectives was spent on.
enum class SkewClass : uint8_t {
  kTransfer,      // at most a third of the time was waiting
  kArrivalSkew,   // two thirds or more were waiting
  kMixed,         // in between
  kInconclusive,  // the ends of the collectives agree too little to say which
  kCount,
};
std::string_view SkewClassId(SkewClass type);  // "transfer", "arrival-skew", ...

// What a late rank did for longer than the ranks that waited for it.
struct SkewCause {
  enum class Kind : uint8_t {
    kIdle,         // it was idle; `idle` says why
    kCompute,      // it computed; `category` says what
    kCopies,       // copies and memsets
    kCollectives,  // communication: transfer in other collectives, or kernels without a match
    kUnknown,      // nothing recorded explains it, or the ranks had shared no collective before
    kPace,         // it launched no more slowly than the waiting rank, but later (kLeadPace)
    kTooShort,     // the wait is too short for the ends of collectives to show whom it was for
  };
  Kind kind = Kind::kUnknown;
  IdleCause idle = IdleCause::kUnknown;  // set for kIdle
  std::string category = {};             // set for kCompute
  DurationNs time = {};

  [[nodiscard]] std::string Id() const;  // "idle.host-late", "compute.gemm.dense", "copies"
  // Whether the device was idle because the host launched late, or was between steps.
  [[nodiscard]] bool IsHost() const;
};

struct RankBlame {
  // Why there are no figures.
  enum class Absent : uint8_t {
    kNo,             // there are figures
    kNoEvents,       // there is only one trace, or the results were read back from a file
    kNoCollectives,  // no rank ran communication kernels
    kNoMatch,        // nothing says which kernels of different ranks are one collective
    kClocks,         // no collective has ends that agree between ranks
    kOutside,        // all collectives lie outside the part of the traces that was asked for
    kOnHost,         // the engines run on the CPU, where waits are not analysed; set by AnalyzeRun
  } absent = Absent::kNoEvents;

  // A rank that took part in collectives.
  struct Row {
    size_t rank = 0;  // index into the `ranks` of BlameRanks
    size_t collectives = 0;
    size_t last = 0;  // number of collectives to which it came last, so that others waited
    // Its time in transfers, its waiting for others, and the waiting of others that it caused.
    DurationNs transfer, suffered, caused;
    DurationNs paced;  // part of `caused` that is not lateness: kPace
    // How much later it came to collectives than the median of the other ranks, summed over
    // collectives; below 0: earlier. Leaves out its first step, in which a part of it is not known.
    DurationNs late;
    std::vector<SkewCause> caused_by;  // adds up to `caused`; sorted longest first, then by id
    // It caused far more than chance explains (StandsOut in blame.cc).
    bool stands_out = false;

    // What it caused by being late.
    [[nodiscard]] DurationNs caused_late() const { return caused - paced; }
  };
  // The collectives that the same ranks share in one process group.
  struct Group {
    GroupKind kind = GroupKind::kOther;
    std::string name;           // of the process group; "" if the traces have none
    std::vector<size_t> ranks;  // as Row::rank, ascending
    size_t collectives = 0;
    DurationNs transfer, waits;  // sums over its ranks
    SkewClass type = SkewClass::kInconclusive;
  };

  SkewClass type = SkewClass::kInconclusive;
  DurationNs transfer, waits;  // sums over all ranks; together they are the time in collectives
  size_t collectives = 0;
  // By SkewClass: the number of collectives.
  std::array<size_t, static_cast<size_t>(SkewClass::kCount)> of_class = {};
  // Share of the ranks' communication kernels that are in a matched collective, 0..1.
  double matched_share = 0;
  // How far the ends of a collective differ between ranks: the largest ClockResidual::spread. Waits
  // up to this length are kTooShort.
  DurationNs residual;
  std::vector<Row> table;             // sorted by rank
  std::vector<Group> groups;          // sorted by kind, then first rank, then name
  std::vector<CollectiveSize> sizes;  // only if traces name sizes; most transfer time first
  size_t sizes_left_out = 0;          // number of sizes that follow those in `sizes`
  ExpertBalance experts;
};

// digests[i] must be the digest of ranks[i]. In the result, the sum of Row::caused, the sum of
// Row::suffered and the sum of Group::waits each equal `waits`. Cost: that of MatchCollectives and
// ChargeSkew.
RankBlame BlameRanks(const std::vector<CommRank>& ranks, const DigestsOfRanks& digests);

}  // namespace tacho
