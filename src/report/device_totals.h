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
// Names for parts of the window of a device that is not whole: `busy` minus `compute` is
// communication and copies; the window minus `busy` may be idle time or unrecorded work.
inline constexpr const char* kCommAndCopies = "communication and copies";
inline constexpr const char* kIdleOrUnrecorded = "idle or unrecorded work";

// "GPU", or "CPU" for an engine without a GPU.
std::string DeviceWord(const DeviceTotals& totals);

// The words for one piece of work and for all work: "kernel" and "kernels"; on a CPU engine
// "operator" and "working operators", or, if there are collectives beside the operators, "work" and
// "working operators and collectives".
std::string_view WorkWord(const DeviceTotals& totals);
std::string_view WorkWords(const DeviceTotals& totals);

// The words for where an empty table found nothing: "in this trace", or "in this part of the trace"
// if a window or a device was asked for.
std::string_view Whereabouts(const TraceAnalysis& trace);
std::string_view Whereabouts(const RunAnalysis& run);  // of one trace or more

// True for the trace of a rank, or of several; false for a front-end's trace.
bool IsWorker(const TraceAnalysis& trace);

// The trace whose screen stands for the whole run: the only trace, or the only worker's trace
// beside those of front ends; nullptr if there are several. `run` has one trace or more.
const TraceAnalysis* OnlyTrace(const RunAnalysis& run);

// The rank whose steps are shown: all ranks of an engine run the same steps. `ranks` has at least
// one row.
const RankRow& RankOfSteps(const RankTable& ranks);
// The steps of a rank, including those of its stages that have files of their own.
StepTable StepsOf(const RunAnalysis& run, const RankRow& row);

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

}  // namespace tacho
