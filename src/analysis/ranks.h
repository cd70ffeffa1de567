#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device_time.h"
#include "analysis/facts.h"

namespace tacho {

// One trace of a run as the table of ranks sees it.
struct RankInput {
  std::string path;
  const TraceFacts* facts = nullptr;
  const std::vector<DeviceTime>* devices = nullptr;
  std::optional<int64_t> base_time_ns;
  size_t steps = 0;
  DurationNs kernel_sum;
};

struct RankRow {
  std::string path;
  std::optional<int64_t> rank;
  DurationNs window, busy, idle, compute, exposed_comm, exposed_copy, comm_busy,
      kernel_sum;  // over its devices
  size_t steps = 0;
  std::optional<int64_t> start_unix_ns;  // first device work
};

// All worker traces of a folder side by side. Front-end and merged traces are left out.
struct RankTable {
  std::optional<int64_t> world_size;  // the largest that a trace names
  std::vector<int64_t> present;       // sorted, distinct
  std::vector<int64_t> missing;       // of 0..world_size-1
  std::vector<RankRow> rows;          // by rank (none last), then path
  double busy_spread = 0;             // largest minus smallest busy share, 0..1
  std::optional<size_t> slowest;  // the row with the most compute time; absent with fewer than 2
  std::vector<std::string>
      warnings;  // "3 traces say rank 0 of 1: data-parallel engines, told apart by path"
};
RankTable CompareRanks(const std::vector<RankInput>& inputs);

}  // namespace tacho
