#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// The times of one or many devices added up. As for each device, busy + idle == window and compute
// + exposed_comm + exposed_copy + idle == window.
struct DeviceTotals {
  size_t devices = 0;
  bool on_host = false;  // a CPU engine
  // On a CPU engine: some collectives ran on threads other than the executing one.
  bool has_collectives_beside = false;
  // False: a device lost work (DeviceTime::whole). Then busy and the sums are lower bounds; idle,
  // exposed_comm and exposed_copy are unknown and set to 0.
  bool whole = true;
  uint64_t gpu_events = 0;
  uint64_t overlaps = 0;
  DurationNs window, busy, idle, compute, exposed_comm, exposed_copy, comm_busy, kernel_sum;
  // All work, by kind. A piece counts with its time inside the window. The sum of all rows is more
  // than `busy` if work overlaps, because each piece counts. `kernels`: by category, longest first,
  // then by name.
  std::vector<CategoryRow> kernels;
  CategoryRow copies{"copies", 0, {}}, memsets{"memsets", 0, {}};
};
DeviceTotals TotalsOf(const std::vector<DeviceTime>& devices);

// The traces of a run added up: kernels and categories by name, idle causes by id, devices as in
// DeviceTotals. Percentiles cannot be added and are 0. Slices of one recording that overlap in time
// count as one trace.
struct RunTotals {
  // Sizes of RanksOf and TimedRanksOf. The figures below are sums over TimedRanksOf.
  size_t workers = 0, timed = 0;
  DeviceTotals devices;
  KernelTable kernels;
  CopyTable copies;
  IdleTable idle;  // without gaps
};
RunTotals TotalsOf(const RunAnalysis& run);
// Whether the trace with this path is one of the slices in `run.together`.
bool IsSliceTogether(const RunAnalysis& run, const std::string& path);

}  // namespace tacho
