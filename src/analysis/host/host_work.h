#pragma once

#include "analysis/device/device_work.h"

namespace tacho {

// The work of a CPU engine, as described in device_work.h. If no operator does any: not on_host,
// and without devices. DeviceWork::categories stays empty.
DeviceWork CollectHostWork(const TrackIndex& index, const Classifier& classifier,
                           const Scope& scope);

}  // namespace tacho
