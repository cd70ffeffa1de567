#include "analysis/evidence/integrity.h"

#include "base/parallel.h"

namespace tacho {

Integrity FindIntegrity(const TrackIndex& index, const LaunchLinks& links, const DeviceWork& work,
                        const Scope& scope, size_t threads) {
  Integrity integrity;
  if (index.trace().gpu.size() == 0) return integrity;
  RunAll({[&] {
            integrity.lost = FindLostWork(index, links, work, scope, &integrity.incomplete_calls);
          },
          [&] { integrity.clocks = CheckDeviceClocks(index, links); },
          [&] { integrity.impossible = FindImpossibleWork(index, links); },
          [&] { integrity.stops = FindRecorderStops(index); }},
         threads);
  return integrity;
}

}  // namespace tacho
