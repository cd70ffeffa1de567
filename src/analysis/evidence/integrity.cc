#include "analysis/evidence/integrity.h"

#include "base/parallel.h"

namespace tacho {
namespace {

// How much later than by the devices' clocks it may be by the host's, of clocks that are off;
// nullopt if there is no bound.
std::optional<DurationNs> AtMost(const std::vector<DeviceClock>& clocks) {
  DurationNs most;
  for (const DeviceClock& clock : clocks) {
    if (clock.state == DeviceClock::State::kRight) continue;
    if (!clock.most || clock.state == DeviceClock::State::kDrifts) return std::nullopt;
    most = std::max(most, *clock.most);
  }
  return most;
}

}  // namespace

Integrity FindIntegrity(const TrackIndex& index, const LaunchLinks& links, const DeviceWork& work,
                        const Scope& scope, size_t threads) {
  Integrity integrity;
  if (index.trace().gpu.size() == 0) return integrity;
  RunAll({[&] {
            integrity.clocks = CheckDeviceClocks(index, links);
            FoundLosses found = FindLostWork(index, links, work, scope, AtMost(integrity.clocks));
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
