#include "analysis/evidence/integrity.h"

#include "base/parallel.h"

namespace tacho {

Integrity FindIntegrity(const TrackIndex& index, const LaunchLinks& links, const DeviceWork& work,
                        const Scope& scope, size_t threads) {
  Integrity integrity;
  if (index.trace().gpu.size() == 0) return integrity;
  RunAll({[&] {
            FoundLosses found = FindLostWork(index, links, work, scope);
            integrity.lost = std::move(found.lost);
            integrity.incomplete_calls = std::move(found.incomplete_calls);
            integrity.lost_when = std::move(found.when);
          },
          [&] { integrity.clocks = CheckDeviceClocks(index, links); },
          [&] { integrity.impossible = FindImpossibleWork(index, links); },
          [&] { integrity.stops = FindRecorderStops(index); }},
         threads);
  return integrity;
}

}  // namespace tacho
