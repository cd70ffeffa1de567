#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/skew_events.h"

namespace tacho {

// Which ranks the others waited for in matched collectives, and why these ranks were late.
//
// A collective ends on all of its ranks at one time (MatchCollectives has proved that the ends
// agree). So its shortest part is that of the rank that came last. The length of this part is the
// transfer; the time by which another part is longer is waiting. That needs no clock, so a clock
// that drifts cannot falsify it.
//
// A wait is charged to the rank that came last. Both ranks had begun together, at the end of the
// last collective that all ranks of this one shared. What the last rank did since then, kind by
// kind (LeadUps), less what the waiting rank did, adds up to the wait; the largest excess is
// charged first. If the last rank itself waited for a third rank meanwhile, in a collective of
// other ranks, this excess is charged to the rank and the kind that its wait was charged to.

struct SkewCharges {
  struct OfRank {
    size_t collectives = 0, last = 0;  // that it took part in; those in which others waited for it
    DurationNs transfer;               // summed over its parts
    DurationNs suffered, caused;
    std::vector<DurationNs> caused_by;  // by LeadKind
    DurationNs twice_late;  // twice how much later than the median of the others it came, summed;
                            // negative: earlier
    // `excess`: what it caused less what it suffered, in ns. `squares`: the squares of this
    // difference, added up over collectives. `variance`: that of `excess` if chance picked the last
    // rank of each collective from its ranks.
    double excess = 0, squares = 0, variance = 0;
    DurationNs waits_around;  // of all ranks in the collectives that it took part in
    size_t parts_around = 0;  // parts of these collectives
  };
  // Of a collective, over its parts.
  struct OfCollective {
    DurationNs transfer, waits;
    DurationNs longest_wait;
  };
  std::vector<OfRank> ranks;              // as given
  std::vector<OfCollective> collectives;  // as given; 0 for those that do not count
};

// `resolution`: a wait up to this is charged as kLeadTooShort. Such waits, and those in the first
// collective of their ranks, are in no `twice_late`, `excess` and `variance`. `kinds`: above every
// LeadKind of the lead-ups.
//
// The sums are exact: over all ranks, `caused` adds up to `suffered`. Each rank's `caused_by` adds
// up to its `caused`, and its `transfer` + `suffered` is its time in collectives. The order of
// ranks changes nothing, unless two come last at once: then the first of them counts.
// Cost: O(p log n) for p parts of collectives of up to n ranks; each lead-up is read once for each
// set of ranks that its rank shares collectives with.
SkewCharges ChargeSkew(const SkewEvents& events, size_t ranks, size_t kinds, DurationNs resolution);

}  // namespace tacho
