#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// The devices of one trace, or of many, added up. busy + idle == window and compute + exposed_comm
// + exposed_copy + idle == window hold here as they do for each device.
struct DeviceTotals {
  size_t devices = 0;
  bool on_host = false;  // a CPU engine
  // On a CPU engine: work includes collectives on threads other than the executing one.
  bool has_collectives_beside = false;
  // False: a device lost work (DeviceTime::whole). Then busy and the sums are lower bounds, and
  // idle, exposed_comm and exposed_copy are unknown, and 0.
  bool whole = true;
  uint64_t gpu_events = 0;
  uint64_t overlaps = 0;
  DurationNs window, busy, idle, compute, exposed_comm, exposed_copy, comm_busy, kernel_sum;
  // All work by kind. Each piece counts for the time that it lies in the window; the sum is `busy`
  // plus the time counted more than once. Kernels by category, longest first, then by name.
  std::vector<CategoryRow> kernels;
  CategoryRow copies{"copies", 0, {}}, memsets{"memsets", 0, {}};
};
DeviceTotals TotalsOf(const std::vector<DeviceTime>& devices);

// The traces of a run as one: kernels and categories by name, causes by id, devices added up.
// Percentiles cannot be added and are left at 0. Slices of one recording that overlap in time are
// one stretch of it.
struct RunTotals {
  size_t workers = 0, timed = 0;  // sizes of RanksOf and TimedRanksOf; figures are of the latter
  DeviceTotals devices;
  KernelTable kernels;
  CopyTable copies;
  IdleTable idle;  // without gaps
};
RunTotals TotalsOf(const RunAnalysis& run);
// Whether the trace of this path is a slice of `run.together`.
bool IsSliceTogether(const RunAnalysis& run, const std::string& path);

}  // namespace tacho
