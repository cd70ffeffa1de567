#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device/device_time.h"
#include "analysis/facts.h"
#include "analysis/ranks/blame.h"

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
  // If the slices of its recording overlap in time: the devices of all slices together.
  const std::vector<DeviceTime>* together = nullptr;
};

// The times of a rank that are compared with other ranks.
struct RankTimes {
  size_t row = 0;  // of the rank's rows, the one with the most compute time
  DurationNs window, busy, compute, comm_busy, exposed_comm;
};

struct RankRow {
  std::string path;
  size_t input = 0;  // index into the inputs
  std::optional<int64_t> rank;
  RankIdentity identity;
  // Sums over its devices. An empty window: no device has times, and the other figures are unknown.
  DurationNs window, busy, idle, compute, exposed_comm, exposed_copy, comm_busy, kernel_sum;
  // All its devices are whole (DeviceTime::whole). If not, its share of busy time is not compared.
  bool whole = true;
  // Nothing is lost. If something is, its times are not compared with those of others, which last
  // longer.
  bool complete = true;
  size_t steps = 0;
  std::optional<int64_t> start_unix_ns;  // start of the first device work
  // Number of the compared rank that the file belongs to. The files of one rank's stages share it.
  size_t group = 0;
  size_t recording = 0;  // counted from 0; groups are compared only within one recording
  // What the row adds to its rank, if that is not its own times. Of slices of one recording that
  // overlap in time, the first adds the times of all together, and the others add nothing.
  std::optional<RankTimes> adds = {};
};

// All whole numbers from `first` to `last`.
struct RankRange {
  int64_t first = 0, last = 0;
  bool operator==(const RankRange&) const = default;
};

// The ranks without a trace: of one worker, or of all engines that have the same world size and
// whose traces name no worker. Such engines cannot be told apart, so a rank is missing if fewer
// traces claim to be it than there are engines.
struct MissingRanks {
  std::string worker;  // "w1"; "" where no trace names one
  int64_t world_size = 0;
  int64_t engines = 1;
  // In 0..world_size-1, ascending; ranges, because a header may claim any size.
  std::vector<RankRange> ranks;
  int64_t count = 0;  // a rank that two engines lack counts twice
  bool operator==(const MissingRanks&) const = default;
};

// All worker traces of a folder side by side. Front-end and merged traces are left out. Ranks whose
// traces overlap in time, directly or through others, and that name the same world size and GPUs
// are one recording; those of different recordings are not compared.
struct RankTable {
  std::optional<int64_t> world_size;  // the largest that a trace names
  std::vector<int64_t> present;       // sorted, distinct
  std::vector<MissingRanks> missing;  // by worker, then world size
  // Whether the engines have ranks whose traces are not here: missing, or not asked for.
  bool has_others = false;
  // Summed over all replicas and data-parallel engines. Each engine has as many ranks as the world
  // size that it names; a worker counts as n engines if n traces claim to be the same rank at the
  // same time.
  int64_t ranks_with_trace = 0, ranks_in_all = 0;
  std::vector<RankRow> rows;  // by identity (none last), then path
  // Ranks (groups) of a recording are compared if they did device work; their times are compared
  // only if nothing of them is lost.
  //
  // Least and largest busy share of the windows, 0..1, in the recording where they differ most.
  double least_busy = 0, most_busy = 0;
  // The same over the ranks of all recordings: the busy share of all together lies between them.
  double least_busy_of_all = 0, most_busy_of_all = 0;
  size_t recordings = 0;  // with device work
  // In the recording with most ranks (among equals, where a rank computes longest), the rank that
  // computes longest: its row with the most compute time. Absent with fewer than 2 ranks.
  std::optional<size_t> slowest;
  DurationNs slowest_compute;   // of that rank
  DurationNs median_of_others;  // compute time of the other ranks there, by nearest rank
  // Whom the ranks waited for in collectives; its ranks are indexes into `rows`. AnalyzeRun sets
  // it.
  RankBlame blame;
  std::vector<std::string> warnings;  // "3 traces say rank 0 of 1: replicas or data-parallel
                                      // engines, told apart by path"

  [[nodiscard]] int64_t missing_count() const;  // of all engines
  [[nodiscard]] double busy_spread() const { return most_busy - least_busy; }
};
RankTable CompareRanks(const std::vector<RankInput>& inputs);

// A rank that holds the others up.
struct Straggler {
  enum class Sign : uint8_t {
    // The others waited for it in collectives, for 2 % of their windows or more (RankBlame).
    kCausesWaiting,
    // The next two signs come from sums alone, for runs without figures of RankBlame.
    kComputesLongest,  // most compute time, by 2 % of the window or more
    // Least time in collectives, if that outweighs the differences in compute time: the others may
    // be waiting for it.
    kLeastCollectives,
  } sign = Sign::kComputesLongest;
  size_t row = 0;  // of the rank's rows, the one with the most compute time
  // Of kCausesWaiting: `time` is what the rank caused; `others` is the sum of the windows of the
  // ranks that share collectives with it. Else `time` is its compute or collective time, and
  // `others` the median of the other ranks'.
  DurationNs time = {}, others = {};

  // Of kCausesWaiting:
  enum class Why : uint8_t { kHost, kCompute, kCopies, kCollectives, kIdle, kUnknown };
  size_t waiting_ranks = 0;  // number of the ranks that share collectives with it
  Why why = Why::kUnknown;   // the reason for the largest part of what it caused
  double why_share = 0;      // 0..1: this part, as a share
  SkewCause main = {};       // the largest cause with this reason
  // How much later than the median of the others it came to collectives, a step; absent with fewer
  // than two steps. The first step does not count: its ranks had shared no collective before.
  std::optional<DurationNs> late_a_step = {};
};

// Who holds the others up, largest cause of waiting first. If RankBlame has figures for half of the
// communication kernels or more, these decide. Else StragglerBySums decides, and there is at most
// one.
std::vector<Straggler> FindStragglers(const RankTable& table);

// Looks at the recording of `table.slowest`, and at its engine: if several traces claim to be one
// rank (replicas), the folder says which belong to the engine. nullopt if no rank stands out, or if
// fewer than two ranks of the engine can be compared.
std::optional<Straggler> StragglerBySums(const RankTable& table);

}  // namespace tacho
