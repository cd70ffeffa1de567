#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/run_changes.h"

namespace tacho {

// All figures of a comparison by name, as gates and the JSON have them:
//
//   decode.step, decode.step.p50, decode.step.p99   a step: mean at equal batch, percentiles of all
//   decode.mean, decode.mix                         mean of all steps; what a changed mix adds
//   decode.gemm.dense, decode.gemm                  a part, and all parts of a group
//   decode.idle.host-late, decode.idle
//   decode.kernels.new                              how many kernels are gone, new, slower, faster,
//                                                   called more (more-calls) or less often
//   whole.window, whole.kernel-time, whole.compute, whole.comm, whole.copy, whole.idle, ...
//   whole.kernels.gone, whole.kernels.new           recordings without steps
//   load.ttft.p50, load.ttft.p99, load.tpot.p50, load.tpot.p99
//   load.throughput, load.requests, load.failed     output tokens and requests a second, and how
//                                                   many requests failed
//
// The bounds of a group are the sum of its parts' bounds.
struct MetricChange {
  std::string name;
  Change change;
  bool counts = false;  // a number of kernels, not ns
};
std::vector<MetricChange> MetricsOf(const RunChanges& changes);

// Names of a phase's metrics, without the phase, as far as they do not depend on the traces. The
// parts of kernels are `categories`, with their groups.
std::vector<std::string> MetricNames(const std::vector<std::string>& categories);
std::vector<std::string> LoadMetricNames();
bool IsLoadMetric(std::string_view metric);
bool IsLoadTime(std::string_view metric);   // a load metric in ns
bool IsLoadCount(std::string_view metric);  // a load metric that is a number of requests

}  // namespace tacho
