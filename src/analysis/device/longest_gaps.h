#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/device/idle.h"
#include "analysis/index/host_cover.h"

namespace tacho {

// A gap whose names are still ids; the texts are looked up only for gaps that are listed.
struct RawGap {
  Interval when;
  uint32_t device = 0;         // index into DeviceWork::devices
  StringId before{}, after{};  // kEmpty: no such work
  uint32_t after_item = IdleStretch::kNoItem;
  // The thread that launched the work after the gap; on a CPU engine the executing thread.
  std::optional<TrackId> thread;
  TimeNs host_until;  // end of the host's part of the gap, which begins with the gap
  std::array<DurationNs, kIdleCauses> parts{};

  // Absent if the host has no part in the gap, or its thread is unknown.
  [[nodiscard]] std::optional<HostStretch> host_part() const {
    const Interval part{when.start, host_until};
    return thread && !part.empty() ? std::optional(HostStretch{*thread, part}) : std::nullopt;
  }
  DurationNs& part(IdleCause cause) { return parts[static_cast<size_t>(cause)]; }
};

// Keeps the longest gaps in bounded memory.
class LongestGaps {
 public:
  explicit LongestGaps(size_t max) : max_(max) {}

  void Add(const RawGap& gap) {
    if (max_ == 0) return;
    if (heap_.size() == max_) {
      if (!LongerFirst(gap, heap_.front())) return;
      std::ranges::pop_heap(heap_, LongerFirst);
      heap_.pop_back();
    }
    heap_.push_back(gap);
    std::ranges::push_heap(heap_, LongerFirst);
  }
  // Longest first, then by start and device.
  std::vector<RawGap> Take() && {
    std::ranges::sort(heap_, LongerFirst);
    return std::move(heap_);
  }

 private:
  static bool LongerFirst(const RawGap& a, const RawGap& b) {
    if (a.when.length() != b.when.length()) return a.when.length() > b.when.length();
    return std::tie(a.when.start, a.device) < std::tie(b.when.start, b.device);
  }

  size_t max_;
  std::vector<RawGap> heap_;  // a heap, the shortest gap on top
};

}  // namespace tacho
