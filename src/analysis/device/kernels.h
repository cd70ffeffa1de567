#pragma once

#include <string>
#include <vector>

#include "analysis/device/device_work.h"

namespace tacho {

// Sum, extremes and percentiles of a set of durations. Percentiles are by nearest rank: the
// smallest duration that at least p % of all do not exceed.
struct DurationStats {
  uint64_t count = 0;
  DurationNs total, min, max, p50, p90, p99;

  [[nodiscard]] DurationNs mean() const {
    return {count == 0 ? 0 : total.ns / static_cast<int64_t>(count)};
  }
};
// `durations` is reordered. All zero when it is empty.
DurationStats Summarize(std::vector<int64_t>& durations);

// The calls of one kernel on one device. Its category is that of its work (CollectDeviceWork).
struct KernelRow {
  std::string name;  // as in the file
  std::string category;
  std::string device;
  DurationStats stats;
};

// Kernels by (name, device), and their categories. Items count, whole, when they start inside the
// scope: a percentile of kernels cut by its edge would mean nothing.
struct KernelTable {
  std::vector<KernelRow> rows;          // by total, longest first; then name, device
  std::vector<CategoryRow> categories;  // by total, longest first; "unclassified" like any other
  DurationNs total;                     // sum over all rows
  double coverage = 0;                  // share of `total` with a category, 0..1; 1 when total is 0
  uint64_t shorter_than_10us = 0;       // kernels
};

KernelTable TabulateKernels(const Trace& trace, const DeviceWork& work,
                            const Classifier& classifier, const Scope& scope = {});

}  // namespace tacho
