#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// `allocated`: bytes that a device's allocator has handed out. `reserved`: bytes that it has taken
// from the device. Absent if not recorded, by old torch or by an allocator that reserves nothing,
// such as the CPU's.
struct MemoryLevel {
  std::optional<int64_t> allocated, reserved;
};

// Memory blocks allocated while one operator was the innermost open one on its thread.
struct OperatorBlocks {
  std::string op;      // "": no operator was open
  std::string inside;  // the outermost operator around `op`; "": `op` itself is the outermost
  uint64_t blocks = 0;
  int64_t bytes = 0;
};

// What the bytes that are allocated at one moment consist of. The parts add up to all of them
// exactly.
struct MemoryParts {
  int64_t before = 0;  // bytes from before the recording
  // The net size of allocations by threads that were not recorded: bytes that belong to no recorded
  // block, minus bytes whose release was not recorded. 0 if nothing is missing.
  int64_t untold = 0;
  std::vector<OperatorBlocks> operators;  // sorted by bytes, most first, then by name

  [[nodiscard]] int64_t Sum() const;
};

struct MemoryPeak {
  TimeNs at;
  int64_t allocated = 0;
  std::optional<int64_t> reserved = {};   // at the same moment as `allocated`
  std::optional<MemoryParts> parts = {};  // absent if the events have no addresses
};

struct ReservedPeak {
  TimeNs at;
  int64_t bytes = 0;
};

// For recordings without totals: bytes allocated minus bytes released since the start.
struct MemoryGrowth {
  int64_t end = 0;   // at the end of the time looked at
  int64_t most = 0;  // the greatest growth, at least 0
  TimeNs most_at;
};

// The time is cut into equal parts of length `step`. Each list has the maximum in each part; a list
// is empty if its values were not recorded.
struct MemorySeries {
  static constexpr size_t kMost = 500;
  TimeNs start;
  DurationNs step;
  std::vector<int64_t> allocated, reserved;
  std::vector<int64_t> grown;  // growth as in MemoryGrowth; only if totals are missing
};

struct DeviceMemory {
  std::string device;  // "cuda 0", "cpu"
  uint64_t allocations = 0, frees = 0;
  // `start.allocated` is the level before the first event, but `start.reserved` the level after it.
  MemoryLevel start, end;
  std::optional<MemoryPeak> peak;
  std::optional<ReservedPeak> reserved_peak;
  std::optional<MemoryGrowth> growth;
  MemorySeries series;
};

struct MemoryTable {
  std::vector<DeviceMemory> devices;  // sorted by type and number, CPUs last
  uint64_t damaged = 0;               // events without a device, or without a plausible size

  [[nodiscard]] bool empty() const { return devices.empty() && damaged == 0; }
};

// What torch recorded with profile_memory=True: an instant event "[memory]" for each allocation and
// release, with the allocator's totals after it. With a window, levels, peaks and counts are those
// within the window. But MemoryParts::before always means before the recording, not before the
// window. Cost: O(n log n) time for n such events; 4 bytes for each event and 40 for each block in
// use.
MemoryTable TabulateMemory(const TrackIndex& index, const Scope& scope = {});

}  // namespace tacho
