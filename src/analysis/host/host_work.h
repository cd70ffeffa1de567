#pragma once

#include "analysis/device/device_work.h"

namespace tacho {

// The work of a CPU engine, as device_work.h tells; not on_host and without devices when no
// operator does any. `work.categories` stays empty.
DeviceWork CollectHostWork(const TrackIndex& index, const Classifier& classifier,
                           const Scope& scope);

}  // namespace tacho
