#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// The devices of one trace, or of many, added up. busy + idle == window and compute + exposed_comm
// + exposed_copy + idle == window hold here as they do for each device.
struct DeviceTotals {
  size_t devices = 0;
  bool on_host = false;  // a CPU engine
  // Of a CPU engine: work includes collectives that other threads than the executing one carry out.
  bool has_collectives_beside = false;
  // False: a device lost work (DeviceTime::whole). Then busy and the sums are lower bounds, and
  // idle, exposed_comm and exposed_copy are unknown, and 0.
  bool whole = true;
  uint64_t gpu_events = 0;
  uint64_t overlaps = 0;
  DurationNs window, busy, idle, compute, exposed_comm, exposed_copy, comm_busy, kernel_sum;
  // All work by what it is, each piece as long as it lies in the window; together they are `busy`
  // plus what ran at the same time. Kernels by category, longest first, then name.
  std::vector<CategoryRow> kernels;
  CategoryRow copies{"copies", 0, {}}, memsets{"memsets", 0, {}};
};
DeviceTotals TotalsOf(const std::vector<DeviceTime>& devices);
// Of a device that is not whole, `busy` without `compute`, and the window without `busy`: they are
// named for what the first is at least, and for what the second may be.
inline constexpr const char* kCommAndCopies = "communication and copies";
inline constexpr const char* kIdleOrUnrecorded = "idle or unrecorded work";

// What the report says instead of "GPU" for an engine without one.
std::string DeviceWord(const DeviceTotals& totals);

// What its work is: "kernel"; of a CPU engine "operator", or "work" when there are collectives
// beside the operators. And all of it: "kernels", "working operators", "working
// operators and collectives".
std::string_view WorkWord(const DeviceTotals& totals);
std::string_view WorkWords(const DeviceTotals& totals);

// What an empty table is said of: "in this trace", or "in this part of the trace" where a window or
// a device was asked for.
std::string_view Whereabouts(const TraceAnalysis& trace);

// False for a front-end's trace; true for that of a rank, or of several.
bool IsWorker(const TraceAnalysis& trace);

// The trace whose own screen stands for a run: its only one, or its only worker's beside those of
// front ends; nullptr where there are several. `run` has one trace or more.
const TraceAnalysis* OnlyTrace(const RunAnalysis& run);

// The rank whose steps are shown: each rank of an engine runs the same ones. `ranks` has a row.
const RankRow& RankOfSteps(const RankTable& ranks);
// The steps of a rank, also those of its stages that are files of their own.
StepTable StepsOf(const RunAnalysis& run, const RankRow& row);

// These traces as one: kernels and categories by name, causes by id, devices added up.
// Percentiles cannot be added and are left at 0. Slices of one recording that overlap in time are
// one stretch of it.
struct RunTotals {
  size_t workers = 0, timed = 0;  // RanksOf, and TimedRanksOf: the figures are of these
  DeviceTotals devices;
  KernelTable kernels;
  CopyTable copies;
  IdleTable idle;  // without gaps
};
RunTotals TotalsOf(const RunAnalysis& run);

}  // namespace tacho
