#include "analysis/schema/device_fields.h"

#include <algorithm>

namespace tacho::schema {

std::vector<KindsRow> KindsRowsOf(const DeviceTime& device) {
  std::vector<KindsRow> rows;
  for (size_t mask = 0; mask < device.by_kinds.size(); ++mask) {
    if (device.by_kinds[mask].ns != 0) rows.push_back({KindNames(mask), device.by_kinds[mask]});
  }
  return rows;
}

std::vector<RunningRow> RunningRowsOf(const DeviceTime& device) {
  std::vector<RunningRow> rows;
  for (size_t running = 0; running < device.by_concurrency.size(); ++running) {
    const DurationNs ns = device.by_concurrency[running];
    if (ns.ns != 0) rows.push_back({running, running + 1 == device.by_concurrency.size(), ns});
  }
  return rows;
}

void SetKinds(const std::vector<KindsRow>& rows, DeviceTime& device) {
  for (const KindsRow& row : rows) {
    for (size_t mask = 0; mask < device.by_kinds.size(); ++mask) {
      if (KindNames(mask) == row.kinds) device.by_kinds[mask] = row.ns;
    }
  }
}

void SetRunning(const std::vector<RunningRow>& rows, DeviceTime& device) {
  for (const RunningRow& row : rows) {
    if (row.running < device.by_concurrency.size()) device.by_concurrency[row.running] = row.ns;
  }
}

bool AddsUp(const DeviceTime& device) {
  if (!device.whole) return device.busy <= device.window.length();
  // Subtracts from the window, because a sum of four times could overflow.
  const int64_t left = device.window.length().ns - device.compute.ns - device.exposed_comm.ns -
                       device.exposed_copy.ns - device.idle.ns;
  return left == 0 && device.busy + device.idle == device.window.length();
}

}  // namespace tacho::schema
