#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/run_changes.h"

namespace tacho {

// All figures of a comparison, with the names that gates and the JSON use:
//
//   decode.step, decode.step.p50, decode.step.p99   a step: mean at equal batch, percentiles of all
//   decode.mean, decode.mix                         mean of all steps; the effect of a changed mix
//                                                   of batches
//   decode.gemm.dense, decode.gemm                  a part; the sum of all parts of a group
//   decode.idle.host-late, decode.idle
//   decode.kernels.new                              number of new kernels; likewise gone, slower,
//                                                   faster, more-calls, fewer-calls
//   decode.block.attention          device time of a block of the model (block_change.h)
//   decode.step.span, decode.step.gaps, decode.step.overlap, decode.step.work
//                                   from the first to the last work of a step, and its parts
//   whole.window, whole.kernel-time, whole.compute, whole.comm, whole.copy, whole.idle, ...
//   whole.kernels.gone, whole.kernels.new           recordings without steps
//   load.ttft.p50, load.ttft.p99, load.tpot.p50, load.tpot.p99
//   load.throughput, load.requests, load.failed     output tokens per second, requests per second,
//                                                   number of failed requests
//
// The bounds of a group are the sum of its parts' bounds.
struct MetricChange {
  std::string name;
  Change change;
  bool counts = false;  // a number of kernels, not ns
};
std::vector<MetricChange> MetricsOf(const RunChanges& changes);

// The names of metrics without their phase, as far as they do not depend on the traces. Kernel
// parts are named by `categories` and the groups of these.
std::vector<std::string> MetricNames(const std::vector<std::string>& categories);
std::vector<std::string> LoadMetricNames();
bool IsLoadMetric(std::string_view metric);
bool IsLoadTime(std::string_view metric);   // a load metric in ns
bool IsLoadCount(std::string_view metric);  // a load metric that is a number of requests

}  // namespace tacho
