#include "analysis/evidence/integrity.h"

#include "base/parallel.h"

namespace tacho {
namespace {

ClocksBound BoundOf(const std::vector<DeviceClock>& clocks) {
  ClocksBound bound;
  for (const DeviceClock& clock : clocks) {
    if (clock.state == DeviceClock::State::kRight) continue;
    bound.common = false;
    if (!clock.most || clock.state == DeviceClock::State::kDrifts)
      bound.behind.reset();
    else if (bound.behind)
      bound.behind = std::max(*bound.behind, *clock.most);
  }
  return bound;
}

}  // namespace

Integrity FindIntegrity(const TrackIndex& index, const LaunchLinks& links, const DeviceWork& work,
                        const Scope& scope, size_t threads) {
  Integrity integrity;
  if (index.trace().gpu.size() == 0) return integrity;
  RunAll({[&] {
            integrity.clocks = CheckDeviceClocks(index, links);
            FoundLosses found = FindLostWork(index, links, work, scope, BoundOf(integrity.clocks));
            integrity.lost = std::move(found.lost);
            integrity.incomplete_calls = std::move(found.incomplete_calls);
            integrity.lost_when = std::move(found.when);
          },
          [&] { integrity.impossible = FindImpossibleWork(index, links); },
          [&] { integrity.stops = FindRecorderStops(index); }},
         threads);
  return integrity;
}

}  // namespace tacho
