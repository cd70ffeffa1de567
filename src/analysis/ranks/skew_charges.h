#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/skew_events.h"

namespace tacho {

// Finds which ranks the others waited for in matched collectives, and why these ranks were late.
//
// A collective ends on all of its ranks at one time (MatchCollectives has checked that the ends
// agree). So its shortest part is that of the rank that came last. The length of this part is the
// transfer; the time by which another part is longer is waiting. This needs only lengths, so it is
// right even if a clock drifts.
//
// A wait is charged to the rank that came last. It and the waiting rank had begun together, at the
// end of the last earlier collective that all ranks of this collective shared. Since then, the last
// rank spent more time than the waiting rank on some kinds of work (LeadUps), and less on others;
// these differences add up to the wait. The kind with the largest excess is charged first. If the
// last rank itself waited for a third rank, in a collective with other ranks, this excess is
// charged to the rank and the kind to which that wait was charged.
//
// In a step that the host launches kernel by kernel, a rank that once came late stays last: the
// others have launched ahead while they waited, so their devices no longer wait for their hosts.
// The host of the last rank is late again only if it falls further behind the host of the waiting
// rank than it had in this step; the rest of its idle time is kLeadPace.

struct SkewCharges {
  struct OfRank {
    // Numbers of collectives: in which it took part, and in which others waited for it.
    size_t collectives = 0, last = 0;
    DurationNs transfer;  // summed over its parts
    // How long it waited, and how much waiting it was charged with.
    DurationNs suffered, caused;
    DurationNs paced;                   // part of `caused`: kLeadPace
    std::vector<DurationNs> caused_by;  // by LeadKind
    // How much later it came than the median of the others, summed over collectives and doubled;
    // negative: earlier. Without its first recorded step, in which a part of it is not known.
    DurationNs twice_late;
    // `excess`: `caused` - `suffered`, in ns, without kLeadPace. `squares`: this difference is
    // taken for each step, squared, and summed. It is not taken for each collective, because a rank
    // that is behind in a step is behind in several of its collectives. A collective of no known
    // step counts as a step of its own. `variance`: the variance of `excess` if, in each step,
    // chance gave each rank the difference of any rank.
    double excess = 0, squares = 0, variance = 0;
    // All waiting but kLeadPace, and the number of parts, in the collectives in which it took part.
    DurationNs waits_around;
    size_t parts_around = 0;
  };
  // One collective: sums over its parts.
  struct OfCollective {
    DurationNs transfer, waits;
    DurationNs longest_wait;
  };
  std::vector<OfRank> ranks;              // by rank
  std::vector<OfCollective> collectives;  // by collective; 0 for those that do not count
};

// `resolution`: waits up to this length are charged as kLeadTooShort. These waits, and those in the
// first collective of their ranks, are not in `excess`, `squares` and `variance`; collectives
// without any other waits are not in `twice_late`. `kinds`: must exceed each LeadKind of the
// lead-ups.
//
// The sums are exact: over all ranks, `caused` adds up to `suffered`. Each rank's `caused_by` adds
// up to its `caused`, and its `transfer` + `suffered` is its time in collectives. The order of
// ranks changes nothing, except that the first one counts as last if several come last together.
// Cost: O(p log n) for p parts of collectives of up to n ranks. In addition, each lead-up is read
// once for each set of ranks with which its rank shares collectives.
SkewCharges ChargeSkew(const SkewEvents& events, size_t ranks, size_t kinds, DurationNs resolution);

}  // namespace tacho
