#pragma once

#include <string>
#include <vector>

#include "analysis/device/device_work.h"

namespace tacho {

// Percentiles are by nearest rank: the smallest duration that at least p % of all durations do not
// exceed.
struct DurationStats {
  uint64_t count = 0;
  DurationNs total, min, max, p50, p90, p99;

  [[nodiscard]] DurationNs mean() const {
    return {count == 0 ? 0 : total.ns / static_cast<int64_t>(count)};
  }
};
// Reorders `durations`. All figures are 0 if it is empty.
DurationStats Summarize(std::vector<int64_t>& durations);

// All calls of one kernel on one device. The category is the one that CollectDeviceWork gave to its
// work.
struct KernelRow {
  std::string name;  // as in the file
  std::string category;
  std::string device;
  DurationStats stats;
};

// Kernels by (name, device), and their categories. An item counts, with its whole duration, if it
// starts inside the scope: percentiles of kernels that the window has cut would mean nothing.
struct KernelTable {
  std::vector<KernelRow> rows;  // sorted by total time, longest first, then by name and device
  std::vector<CategoryRow> categories;  // sorted by total time; includes "unclassified"
  DurationNs total;                     // sum over all rows
  double coverage = 0;  // share of `total` that has a category, 0 to 1; 1 when `total` is 0
  uint64_t shorter_than_10us = 0;  // how many kernels are
};

KernelTable TabulateKernels(const Trace& trace, const DeviceWork& work,
                            const Classifier& classifier, const Scope& scope = {});

}  // namespace tacho
