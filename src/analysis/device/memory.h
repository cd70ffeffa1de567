#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// What a device's allocator has handed out (`allocated`) and taken from the device (`reserved`).
// Absent: not recorded (old torch, or an allocator that reserves nothing, as the CPU's).
struct MemoryLevel {
  std::optional<int64_t> allocated, reserved;
};

// Blocks that one operator allocated: the innermost operator that was open on the thread.
struct OperatorBlocks {
  std::string op;      // "": none was open
  std::string inside;  // the outermost one around it; "": it is itself the outermost
  uint64_t blocks = 0;
  int64_t bytes = 0;
};

// What the bytes allocated at one moment consist of; the parts add up to them exactly.
struct MemoryParts {
  int64_t before = 0;  // allocated before the recording
  // Bytes that no recorded block accounts for, less bytes that were released unrecorded: from
  // threads that were not recorded. 0 if nothing was lost.
  int64_t untold = 0;
  std::vector<OperatorBlocks> operators;  // largest first, then by name

  [[nodiscard]] int64_t Sum() const;
};

struct MemoryPeak {
  TimeNs at;
  int64_t allocated = 0;
  std::optional<int64_t> reserved = {};   // at that moment
  std::optional<MemoryParts> parts = {};  // absent where blocks have no addresses
};

struct ReservedPeak {
  TimeNs at;
  int64_t bytes = 0;
};

// For recordings without totals: bytes allocated less bytes released, from the start on.
struct MemoryGrowth {
  int64_t end = 0;   // at the end
  int64_t most = 0;  // never below 0
  TimeNs most_at;
};

// The maximum in each of equal parts of the time; values that were not recorded are an empty list.
struct MemorySeries {
  static constexpr size_t kMost = 500;
  TimeNs start;
  DurationNs step;
  std::vector<int64_t> allocated, reserved;
  std::vector<int64_t> grown;  // used if totals are missing
};

struct DeviceMemory {
  std::string device;  // "cuda 0", "cpu"
  uint64_t allocations = 0, frees = 0;
  // At the start, `allocated` is the level before the first event, `reserved` the level after it.
  MemoryLevel start, end;
  std::optional<MemoryPeak> peak;
  std::optional<ReservedPeak> reserved_peak;
  std::optional<MemoryGrowth> growth;
  MemorySeries series;
};

struct MemoryTable {
  std::vector<DeviceMemory> devices;  // by type and number, CPUs last
  uint64_t damaged = 0;               // events without a device, or without a plausible size

  [[nodiscard]] bool empty() const { return devices.empty() && damaged == 0; }
};

// What torch's profile_memory=True recorded: an instant "[memory]" for each allocation and release,
// with the totals of the allocator after it. With a window, levels, peaks and counts are those of
// the window; a block counts as allocated before the recording only if it was. Cost: O(n log n) for
// n such events, 4 bytes each and 40 a block that is alive; nothing without such events.
MemoryTable TabulateMemory(const TrackIndex& index, const Scope& scope = {});

}  // namespace tacho
