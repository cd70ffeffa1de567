#pragma once

#include <fmt/format.h>

#include "analysis/device/device_time.h"
#include "analysis/schema/conditions.h"

// The fields of schema 1 (docs/json.md) for results about devices. conditions.h explains `out`.
namespace tacho::schema {

// A cell of DeviceTime::by_kinds (KindsRow) or by_concurrency (RunningRow) that has time in it.
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
// Rows for cells that DeviceTime does not have are ignored.
void SetKinds(const std::vector<KindsRow>& rows, DeviceTime& device);
void SetRunning(const std::vector<RunningRow>& rows, DeviceTime& device);
// Whether the device's times add up to its window.
bool AddsUp(const DeviceTime& device);

void Categories(auto& out, const Key& key, auto& categories) {
  out.Rows(key, categories, [&](auto& row) {
    out.Field(Key{"category",
                  "category of the work, as in `kernels`; `copy` and `memset` for work that is not "
                  "a kernel"},
              row.category);
    out.Field(Key{"count", "number of pieces of work"}, row.count);
    out.Field(Key{"total_ns", "sum of durations"}, row.total);
  });
}

void Stream(auto& out, auto& stream) {
  out.Field(Key{"stream", "the trace's own id (`args.stream`, else the tid)"}, stream.stream);
  out.Field(Key{"events", "number of pieces of work"}, stream.events);
  out.Field(Key{"sum_ns", "sum of durations, with --window only the parts inside it"}, stream.sum);
  out.Field(Key{"busy_ns", "length of the union of the work"}, stream.busy);
  out.Field(Key{"overlaps",
                "pieces that start before the largest end so far on the stream, by (start, end)"},
            stream.overlaps);
  constexpr std::string_view kMeanings[kWorkKinds] = {
      "sum of durations of kernels that are not communication",
      "sum of durations of communication kernels", "sum of durations of copies",
      "sum of durations of memsets; the four sums add up to sum_ns"};
  for (size_t kind = 0; kind < kWorkKinds; ++kind) {
    const std::string key = fmt::format("{}_ns", WorkKindName(static_cast<WorkKind>(kind)));
    out.Field(Key{key, kMeanings[kind]}, stream.by_kind[kind]);
  }
  Categories(out, Key{"categories", "work of the stream by category, by total; adds up to sum_ns"},
             stream.categories);
}

void Gaps(auto& out, auto& device) {
  auto& gaps = device.gaps;
  if (Holds(out, device.whole)) {
    out.BeginRow(Key{"gaps", "idle stretches"});
    out.Field(Key{"count", "stretches inside the window without any work"}, gaps.count);
    out.Field(Key{"over_1us", "stretches strictly longer than 1 us"}, gaps.over_1us);
    out.Field(Key{"over_10us", "stretches longer than 10 us"}, gaps.over_10us);
    out.Field(Key{"over_100us", "stretches longer than 100 us"}, gaps.over_100us);
    out.Field(Key{"over_1ms", "stretches longer than 1 ms"}, gaps.over_1ms);
    out.Field(Key{"largest_ns", "length of the longest"}, gaps.largest);
    out.End();
  }
}

void RunningTogether(auto& out, auto& device) {
  std::vector<KindsRow> kinds = KindsRowsOf(device);
  std::vector<RunningRow> running = RunningRowsOf(device);
  out.Rows(Key{"overlaps",
               "time by the set of kinds that run concurrently; sums to the window, or is empty if "
               "the device is not `whole`"},
           kinds, [&](auto& row) {
             out.List(Key{"kinds",
                          "kinds of work that run concurrently: `compute`, `communication`, "
                          "`copy`, `memset`; empty: idle"},
                      row.kinds);
             out.Field(Key{"ns", "time for which they do"}, row.ns);
           });
  out.Rows(Key{"concurrency",
               "time by how many pieces of work run concurrently; sums to the window, or is empty "
               "if the device is not `whole`"},
           running, [&](auto& row) {
             out.Field(Key{"running", "concurrent pieces of work; 0: idle"}, row.running);
             out.Field(
                 Key{"or_more", "`true` in the row of 8, which covers all larger numbers too"},
                 UnlessIs(row.or_more, false));
             out.Field(Key{"ns", "time for which they do"}, row.ns);
           });
  if constexpr (kReads<decltype(out)>) {
    SetKinds(kinds, device);
    SetRunning(running, device);
    if (!AddsUp(device))
      out.Refuse("window_ns", "compute + exposed communication + exposed copies + idle");
  }
}

// A device takes several lines in the JSON, because each of its streams is an object.
void Device(auto& out, auto& device) {
  out.Field(
      Key{"device", "the trace's own id (`args.device`, else the pid); `cpu` on a CPU engine"},
      device.device);
  out.Field(Key{"on_host",
                "`true` on a CPU engine: the executing thread stands for the device and its "
                "working operators for kernels; collectives of other threads are communication on "
                "streams of their own"},
            UnlessIs(device.on_host, false));
  out.Field(Key{"whole",
                "`false`: work of the device was lost; then busy_ns, compute_ns and the sums are "
                "lower bounds, idle and exposed times and gaps are absent, and `overlaps` and "
                "`concurrency` are empty"},
            UnlessIs(device.whole, true));
  out.Field(Key{"gpu_events",
                "kernels, copies and memsets (on a CPU engine working operators and collectives of "
                "other threads) that start in the window"},
            device.gpu_events);
  out.Field(Key{"window_start_ns", "start of the window, on the trace's clock"},
            device.window.start);
  out.Field(
      Key{"window_ns",
          "time from the first start to the last end of the work; or the `--window` if given"},
      LengthOf(device.window));
  out.Field(Key{"busy_ns", "length of the union of all work"}, device.busy);
  if (Holds(out, device.whole))
    out.Field(Key{"idle_ns", "idle time: window_ns - busy_ns"}, device.idle);
  out.Field(Key{"compute_ns", "union of kernels that are not communication, and of memsets"},
            device.compute);
  if (Holds(out, device.whole)) {
    out.Field(Key{"exposed_comm_ns", "communication while nothing computes"}, device.exposed_comm);
    out.Field(Key{"exposed_copy_ns",
                  "copies while nothing computes or communicates; compute + exposed_comm + "
                  "exposed_copy + idle = window"},
              device.exposed_copy);
  }
  out.Field(Key{"kernel_sum_ns", "sum of kernel durations, overlap counted twice"},
            device.kernel_sum);
  out.Field(Key{"kernel_busy_ns", "union of kernels"}, device.kernel_busy);
  out.Field(Key{"comm_busy_ns", "union of communication kernels"}, device.comm_busy);
  out.Field(Key{"copy_busy_ns", "union of copies"}, device.copy_busy);
  Gaps(out, device);
  RunningTogether(out, device);
  out.Rows(Key{"streams", "streams, by number"}, device.streams,
           [&](auto& stream) { Stream(out, stream); });
}

}  // namespace tacho::schema
