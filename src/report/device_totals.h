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
  uint64_t gpu_events = 0;
  uint64_t overlaps = 0;
  DurationNs window, busy, idle, compute, exposed_comm, exposed_copy, comm_busy, kernel_sum;

  void Add(const DeviceTime& device);
};
DeviceTotals TotalsOf(const std::vector<DeviceTime>& devices);

// What the report says instead of "GPU" for an engine without one.
std::string DeviceWord(const DeviceTotals& totals);

// True for a trace that stands for a rank, or for several: not a front-end's.
bool IsWorker(const TraceAnalysis& trace);

// The traces that the figures of a run are made of: those of single ranks; a merged file repeats
// them, so it counts only where there are no others.
std::vector<const TraceAnalysis*> RanksOf(const RunAnalysis& run);

// These traces as one: kernels and categories by name, causes by id, devices added up.
// Percentiles cannot be added and are left at 0.
struct RunTotals {
  size_t workers = 0;
  DeviceTotals devices;
  KernelTable kernels;
  CopyTable copies;
  IdleTable idle;  // without gaps
};
RunTotals TotalsOf(const RunAnalysis& run);

}  // namespace tacho
