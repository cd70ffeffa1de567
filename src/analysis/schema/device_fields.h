#pragma once

#include <fmt/format.h>

#include "analysis/device/device_time.h"
#include "base/field_kinds.h"

// The fields of schema 1 (docs/json.md) of results about devices. Each function writes them to a
// JsonWriter or reads them from a JsonReader, `out`.
namespace tacho::schema {

// Cells of DeviceTime::by_kinds and by_concurrency that hold time.
struct KindsRow {
  std::vector<std::string> kinds;
  DurationNs ns;
};
struct RunningRow {
  uint64_t running = 0;
  bool or_more = false;
  DurationNs ns;
};
std::vector<KindsRow> KindsRowsOf(const DeviceTime& device);
std::vector<RunningRow> RunningRowsOf(const DeviceTime& device);
// Rows for cells that do not exist are ignored.
void SetKinds(const std::vector<KindsRow>& rows, DeviceTime& device);
void SetRunning(const std::vector<RunningRow>& rows, DeviceTime& device);
// Whether the device's times add up to its window.
bool AddsUp(const DeviceTime& device);

void Categories(auto& out, auto& categories) {
  out.Rows("categories", categories, [&](auto& row) {
    out.Fields("category", row.category, "count", row.count, "total_ns", row.total);
  });
}

void Stream(auto& out, auto& stream) {
  out.Fields("stream", stream.stream, "events", stream.events, "sum_ns", stream.sum, "busy_ns",
             stream.busy, "overlaps", stream.overlaps);
  for (size_t kind = 0; kind < kWorkKinds; ++kind) {
    out.Field(fmt::format("{}_ns", WorkKindName(static_cast<WorkKind>(kind))),
              stream.by_kind[kind]);
  }
  Categories(out, stream.categories);
}

// Not on one line, as streams have lists of their own.
void Device(auto& out, auto& device) {
  out.Fields("device", device.device, "on_host", UnlessIs(device.on_host, false), "whole",
             UnlessIs(device.whole, true), "gpu_events", device.gpu_events, "window_start_ns",
             device.window.start, "window_ns", LengthOf(device.window), "busy_ns", device.busy);
  if (device.whole) out.Field("idle_ns", device.idle);
  out.Field("compute_ns", device.compute);
  if (device.whole)
    out.Fields("exposed_comm_ns", device.exposed_comm, "exposed_copy_ns", device.exposed_copy);
  out.Fields("kernel_sum_ns", device.kernel_sum, "kernel_busy_ns", device.kernel_busy,
             "comm_busy_ns", device.comm_busy, "copy_busy_ns", device.copy_busy);
  auto& gaps = device.gaps;
  if (device.whole) {
    out.Row("gaps", "count", gaps.count, "over_1us", gaps.over_1us, "over_10us", gaps.over_10us,
            "over_100us", gaps.over_100us, "over_1ms", gaps.over_1ms, "largest_ns", gaps.largest);
  }
  std::vector<KindsRow> kinds = KindsRowsOf(device);
  std::vector<RunningRow> running = RunningRowsOf(device);
  out.Rows("overlaps", kinds, [&](auto& row) {
    out.List("kinds", row.kinds);
    out.Field("ns", row.ns);
  });
  out.Rows("concurrency", running, [&](auto& row) {
    out.Fields("running", row.running, "or_more", UnlessIs(row.or_more, false), "ns", row.ns);
  });
  if constexpr (std::remove_reference_t<decltype(out)>::kReads) {
    SetKinds(kinds, device);
    SetRunning(running, device);
    if (!AddsUp(device))
      out.Refuse("window_ns", "compute + exposed communication + exposed copies + idle");
  }
  out.Rows("streams", device.streams, [&](auto& stream) { Stream(out, stream); });
}

}  // namespace tacho::schema
