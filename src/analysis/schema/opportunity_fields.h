#pragma once

#include "analysis/opportunities/opportunities.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) for opportunities. conditions.h explains `out`.
namespace tacho::schema {

void Opportunities(auto& out, auto& opportunities) {
  out.Objects(
      Key{"opportunities",
          "work that repeats in the layers and could take less time, by the most that it would "
          "save a "
          "step; these ceilings do not add up. Absent without layers and for a CPU engine"},
      opportunities, [&](auto& of) {
        out.Field(Key{"kind",
                      "`fuse`: short kernels, one after another, that could be one; `overlap`: "
                      "dispatch and combine that nothing hides, beside the shared expert"},
                  ByName(of.kind, OpportunityKindId, static_cast<size_t>(OpportunityKind::kCount)));
        out.Field(Key{"phase", "`prefill`, `decode`, `mixed` or `other`"},
                  ByName(of.phase, PhaseName, kPhaseCount));
        out.Field(Key{"layers", "number of layers that have it"}, of.layers);
        out.Field(Key{"steps", "number of steps of the phase"}, of.steps);
        out.Field(Key{"count", "number of times that it occurs in them"}, of.count);
        out.Field(Key{"most_ns", "the most that it would save in all these steps"}, of.most);
        out.Field(Key{"share",
                      "share of `most_ns` in the time of the layers of these steps, gaps "
                      "included"},
                  of.share);
        const bool fuse = of.kind == OpportunityKind::kFuse;
        if (IsThere(out, "kernels", fuse)) {
          out.List(Key{"kernels", "names of the kernels in the file, in order; of `fuse` alone"},
                   of.kernels);
          out.Field(Key{"gap_ns", "part of `most_ns`: nothing ran on the device; of `fuse` alone"},
                    of.gaps);
        }
        if (IsThere(out, "exposed_ns", !fuse)) {
          out.Field(Key{"exposed_ns",
                        "dispatch and combine while nothing else ran on the device, and the gaps "
                        "before them; of `overlap` alone"},
                    of.exposed);
          out.Field(Key{"movable_ns",
                        "the shared expert while nothing else ran on the device, and the gaps "
                        "before its work; of `overlap` alone"},
                    of.movable);
        }
      });
}

}  // namespace tacho::schema
