#pragma once

#include "analysis/device/device_work.h"

namespace tacho {

// The work of a CPU engine, as device_work.h describes it. If no operator does work, the result has
// no devices and on_host is false. DeviceWork::categories stays empty.
DeviceWork CollectHostWork(const TrackIndex& index, const Classifier& classifier,
                           const Scope& scope);

}  // namespace tacho
