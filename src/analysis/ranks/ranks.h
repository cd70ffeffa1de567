#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device/device_time.h"
#include "analysis/facts.h"

namespace tacho {

// One trace of a run as the table of ranks sees it.
struct RankInput {
  std::string path;
  const TraceFacts* facts = nullptr;
  const std::vector<DeviceTime>* devices = nullptr;
  std::optional<int64_t> base_time_ns;
  Interval span = {};  // of the whole trace, whatever part of it the devices cover
  size_t steps = 0;
  DurationNs kernel_sum;
  std::string trace_id;  // "" where the header has none
  std::string gpus;      // the names of the header's GPUs; "" where it names none
  bool complete = true;  // nothing of it is lost
  // The devices of all slices of its recording together, where their work overlaps in time.
  const std::vector<DeviceTime>* together = nullptr;
};

// What is compared of a rank.
struct RankTimes {
  size_t row = 0;  // of its rows that with the most compute time
  DurationNs window, busy, compute, comm_busy, exposed_comm;
};

struct RankRow {
  std::string path;
  std::optional<int64_t> rank;
  RankIdentity identity;
  // Over its devices; an empty window: none has times, and the others are unknown.
  DurationNs window, busy, idle, compute, exposed_comm, exposed_copy, comm_busy, kernel_sum;
  // As DeviceTime::whole of all of them: else its share of busy time is compared with no other.
  bool whole = true;
  // Nothing is lost: else no time of it is compared with those of others, which last longer.
  bool complete = true;
  size_t steps = 0;
  std::optional<int64_t> start_unix_ns;  // first device work
  // Which of the ranks that are compared the file belongs to: those of one rank's stages share it.
  size_t group = 0;
  size_t recording = 0;  // counted from 0; groups are compared with others of the same one
  // What it adds to its rank where that are not its own times: of slices of one recording that
  // overlap, the first adds the times of all together, the others add nothing.
  std::optional<RankTimes> adds = {};
};

// All whole numbers from `first` to `last`.
struct RankRange {
  int64_t first = 0, last = 0;
  bool operator==(const RankRange&) const = default;
};

// The ranks without a trace of one worker, or of all engines whose traces name no worker and the
// same world size: these cannot be told apart, so a rank is missing where fewer traces say that
// they are it than there are engines.
struct MissingRanks {
  std::string worker;  // "w1"; "" where no trace names one
  int64_t world_size = 0;
  int64_t engines = 1;
  std::vector<RankRange> ranks;  // of 0..world_size-1, ascending: a header may claim any size
  int64_t count = 0;             // a rank that two engines lack counts twice
  bool operator==(const MissingRanks&) const = default;
};

// All worker traces of a folder side by side. Front-end and merged traces are left out. Ranks whose
// traces overlap in time, directly or through others, and that name the same world size and GPUs
// are one recording; those of different recordings are not compared.
struct RankTable {
  std::optional<int64_t> world_size;  // the largest that a trace names
  std::vector<int64_t> present;       // sorted, distinct
  std::vector<MissingRanks> missing;  // by worker, then world size
  // Of all replicas and data-parallel engines: each has as many as the world size that it names,
  // and a worker is as many engines as claim to be one of its ranks at the same time.
  int64_t ranks_with_trace = 0, ranks_in_all = 0;
  std::vector<RankRow> rows;  // by identity (none last), then path
  // Compared are the ranks (groups) of a recording that did device work; their times, where nothing
  // of them is lost.
  // Busy shares of the windows, 0..1: least and most of the recording where they differ most.
  double least_busy = 0, most_busy = 0;
  // The same of the ranks of all recordings: the busy share of all together lies between them.
  double least_busy_of_all = 0, most_busy_of_all = 0;
  size_t recordings = 0;  // with device work
  // Of the recording with most of them (of equals that where a rank computes longest): of the rank
  // that computes longest its row with the most compute time; absent with fewer than 2 ranks.
  std::optional<size_t> slowest;
  DurationNs slowest_compute;         // of that rank
  DurationNs median_of_others;        // compute time of the other ranks there, by nearest rank
  std::vector<std::string> warnings;  // "3 traces say rank 0 of 1: replicas or data-parallel
                                      // engines, told apart by path"

  [[nodiscard]] int64_t missing_count() const;  // of all engines
  [[nodiscard]] double busy_spread() const { return most_busy - least_busy; }
};
RankTable CompareRanks(const std::vector<RankInput>& inputs);

// The rank that holds the others up, as far as sums can tell.
struct Straggler {
  enum class Sign : uint8_t {
    kComputesLongest,   // most compute time, by 2 % of the window or more
    kLeastCollectives,  // least time in collectives, where these outweigh what compute differs by:
                        // the others may be waiting for it
  } sign = Sign::kComputesLongest;
  size_t row = 0;           // of its rows that with the most compute time
  DurationNs time, others;  // its compute or collective time, and the median of the others'
};
// Of the recording of `table.slowest`, and of its engine: where several claim to be one rank
// (replicas) its folder says which are its own. nullopt when no rank stands out, or it cannot be
// told.
std::optional<Straggler> FindStraggler(const RankTable& table);

}  // namespace tacho
