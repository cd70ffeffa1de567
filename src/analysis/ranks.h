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
  // Which of the ranks that are compared the file belongs to: those of one rank's stages share it.
  size_t group = 0;
};

// All whole numbers from `first` to `last`.
struct RankRange {
  int64_t first = 0, last = 0;
  bool operator==(const RankRange&) const = default;
};

// All worker traces of a folder side by side. Front-end and merged traces are left out.
struct RankTable {
  std::optional<int64_t> world_size;  // the largest that a trace names
  std::vector<int64_t> present;       // sorted, distinct
  std::vector<RankRange> missing;     // of 0..world_size-1, ascending: a header may claim any size
  int64_t missing_count = 0;          // how many ranks these are
  std::vector<RankRow> rows;          // by rank (none last), then path
  // Over the ranks, all files of a rank's stages together:
  double least_busy = 0, most_busy = 0;  // shares of their windows, 0..1
  // Of the rank that computes longest its row with the most compute time; absent with fewer than 2
  // ranks.
  std::optional<size_t> slowest;
  DurationNs slowest_compute;   // of that rank
  DurationNs median_of_others;  // compute time of the other ranks, by nearest rank
  std::vector<std::string>
      warnings;  // "3 traces say rank 0 of 1: data-parallel engines, told apart by path"

  [[nodiscard]] double busy_spread() const { return most_busy - least_busy; }
};
RankTable CompareRanks(const std::vector<RankInput>& inputs);

}  // namespace tacho
