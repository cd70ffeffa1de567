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
  size_t recording = 0;                  // rows are compared with others of the same one
};

// All worker traces of a folder side by side. Front-end and merged traces are left out. Traces
// whose device work overlaps in time, directly or through others, and that name the same world size
// are one recording; those of different recordings are not compared.
struct RankTable {
  std::optional<int64_t> world_size;  // the largest that a trace names
  std::vector<int64_t> present;       // sorted, distinct
  std::vector<int64_t> missing;       // of 0..world_size-1
  std::vector<RankRow> rows;          // by rank (none last), then path
  // Largest minus smallest busy share, 0..1, of the recording where they differ most.
  double busy_spread = 0;
  // The row with the most compute time in the recording with most ranks; absent with fewer than 2.
  std::optional<size_t> slowest;
  std::vector<std::string>
      warnings;  // "3 traces say rank 0 of 1: data-parallel engines, told apart by path"
};
RankTable CompareRanks(const std::vector<RankInput>& inputs);

// The rank that holds the others up, as far as sums can tell.
struct Straggler {
  enum class Sign : uint8_t {
    kComputesLongest,   // most compute time, by 2 % of the window or more
    kLeastCollectives,  // least time in collectives, where these outweigh what compute differs by:
                        // the others may be waiting for it
  } sign = Sign::kComputesLongest;
  size_t row = 0;
  DurationNs time, others;  // its compute or collective time, and the median of the others'
};
// Of the recording of `ranks.slowest`; nullopt when no rank stands out.
std::optional<Straggler> FindStraggler(const RankTable& ranks);

}  // namespace tacho
