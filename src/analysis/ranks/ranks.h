#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device/device_time.h"
#include "analysis/facts.h"
#include "analysis/ranks/blame.h"

namespace tacho {

// What the table of ranks needs of one trace of a run.
struct RankInput {
  std::string path;
  const TraceFacts* facts = nullptr;
  const std::vector<DeviceTime>* devices = nullptr;
  std::optional<int64_t> base_time_ns;
  Interval span = {};  // extent of the whole trace, not only of device work
  size_t steps = 0;
  DurationNs kernel_sum;
  std::string trace_id;  // "" if the header has none
  std::string gpus;      // names of the GPUs in the header; "" if it names none
  bool complete = true;  // nothing of the trace is lost
  // The devices of several slices together, if the trace is one of several slices of a recording
  // that overlap in time; else null.
  const std::vector<DeviceTime>* together = nullptr;
};

// The times of a rank that are compared with other ranks.
struct RankTimes {
  size_t row = 0;  // index into RankTable::rows: the rank's row with the most compute time
  DurationNs window, busy, compute, comm_busy, exposed_comm;
};

struct RankRow {
  std::string path;
  size_t input = 0;  // index into the inputs
  std::optional<int64_t> rank;
  RankIdentity identity;
  // Sums over its devices. If `window` is empty, no device has times, and these are unknown.
  DurationNs window, busy, idle, compute, exposed_comm, exposed_copy, comm_busy, kernel_sum;
  // All its devices are whole (DeviceTime::whole). If not, the row is not compared with others.
  bool whole = true;
  // True: nothing of the trace is lost. False: its times are too short to compare them with those
  // of others; its busy share is still compared.
  bool complete = true;
  size_t steps = 0;
  std::optional<int64_t> start_unix_ns;  // start of the first device work
  // Number of the rank that the file belongs to. Several files of one rank, such as one for each
  // stage, have the same number.
  size_t group = 0;
  size_t recording = 0;  // counted from 0; ranks are compared only within one recording
  // What the row adds to the times of its rank; absent: its own times. If slices of one recording
  // overlap in time, the first slice adds the times of all together, and the others add nothing.
  std::optional<RankTimes> adds = {};
};

// All whole numbers from `first` to `last`.
struct RankRange {
  int64_t first = 0, last = 0;
  bool operator==(const RankRange&) const = default;
};

// The ranks of one worker that have no trace. Traces without a worker's name are taken together if
// they name the same world size. Several engines among them cannot be distinguished, so a rank is
// missing if fewer traces claim it than there are engines.
struct MissingRanks {
  std::string worker;  // "w1"; "" if the traces name none
  int64_t world_size = 0;
  int64_t engines = 1;
  // Within 0..world_size-1, ascending. Kept as ranges, because a header may claim any world size.
  std::vector<RankRange> ranks;
  int64_t count = 0;  // number of missing traces: a rank that two engines lack counts twice
  bool operator==(const MissingRanks&) const = default;
};

// All worker traces of a run side by side, without front-end and merged traces. Ranks are of one
// recording if they name the same world size and GPUs, and their traces overlap in time, directly
// or through others. Ranks of different recordings are not compared.
struct RankTable {
  std::optional<int64_t> world_size;  // the largest that a trace names
  std::vector<int64_t> present;       // sorted, distinct
  std::vector<MissingRanks> missing;  // sorted by worker, then world size
  // Some ranks of the engines have no trace here: they are missing, or were not asked for.
  bool has_others = false;
  // Sums over all replicas and data-parallel engines. Each engine has as many ranks as its world
  // size; a worker counts as n engines if n traces of one recording claim the same rank.
  int64_t ranks_with_trace = 0, ranks_in_all = 0;
  std::vector<RankRow> rows;  // sorted by identity (rows without one last), then path
  // The figures below compare ranks of the same recording: only ranks that did device work and are
  // whole. Times are compared only between ranks that lost nothing.
  //
  // Least and largest busy share of a rank's window, 0..1, in the recording where the two differ
  // most.
  double least_busy = 0, most_busy = 0;
  // The same over all recordings, so the busy share of all ranks together lies between these two.
  double least_busy_of_all = 0, most_busy_of_all = 0;
  size_t recordings = 0;  // number of recordings with device work
  // The rank that computes longest, as the index of its row with the most compute time. It is taken
  // from the recording with the most ranks; if several have as many, from the one with the longest
  // compute time. Absent if no recording has two ranks.
  std::optional<size_t> slowest;
  DurationNs slowest_compute;   // compute time of `slowest`
  DurationNs median_of_others;  // lower median compute time of the other ranks of its recording
  // Which ranks the others waited for in collectives; its ranks are indexes into `rows`. Set by
  // AnalyzeRun.
  RankBlame blame;
  // Such as "3 traces say rank 0 of 1: replicas or data-parallel engines, told apart by path".
  std::vector<std::string> warnings;

  [[nodiscard]] int64_t missing_count() const;  // summed over all engines
  [[nodiscard]] double busy_spread() const { return most_busy - least_busy; }
};
RankTable CompareRanks(const std::vector<RankInput>& inputs);

// A rank that holds the others up.
struct Straggler {
  enum class Sign : uint8_t {
    // The others waited for it in collectives, for 2 % of their windows or more (RankBlame).
    kCausesWaiting,
    // The next two signs are used if RankBlame has too few figures; they come from sums alone.
    kComputesLongest,  // its compute time is the longest, by 2 % of the window or more
    // Its time in collectives is the least, and exposed communication outweighs the differences in
    // compute time: the others may be waiting for it.
    kLeastCollectives,
  } sign = Sign::kComputesLongest;
  size_t row = 0;  // index into RankTable::rows: the rank's row with the most compute time
  // kCausesWaiting: `time` is the waiting that the rank caused, `others` the sum of the windows of
  // the ranks that share collectives with it. Other signs: `time` is the rank's compute or
  // collective time, `others` the median of the other ranks.
  DurationNs time = {}, others = {};
  // Set for the other signs, if there is only one other rank: its row.
  std::optional<size_t> only_other = {};

  // The rest is set for kCausesWaiting only.
  enum class Why : uint8_t { kHost, kCompute, kCopies, kCollectives, kIdle, kUnknown };
  size_t waiting_ranks = 0;  // number of the ranks that share collectives with it
  Why why = Why::kUnknown;   // the reason for most of the waiting that it caused
  double why_share = 0;      // the share of the waiting that has this reason, 0..1
  SkewCause main = {};       // the largest cause with this reason
  // How much later it came to collectives than the median of the others: the mean per step. Leaves
  // out the rank's first step, in which lateness is not known. Absent with fewer than two steps.
  std::optional<DurationNs> late_a_step = {};
};

// The ranks that hold the others up, largest cause of waiting first. Decided by RankBlame if its
// figures cover half of the communication kernels or more; else by StragglerBySums, which finds at
// most one.
std::vector<Straggler> FindStragglers(const RankTable& table);

// Looks for a straggler in the recording of `table.slowest`. If several traces there claim the same
// rank (replicas), only the ranks in the folder of `table.slowest` count. nullopt if no rank stands
// out, or if fewer than two ranks can be compared.
std::optional<Straggler> StragglerBySums(const RankTable& table);

}  // namespace tacho
