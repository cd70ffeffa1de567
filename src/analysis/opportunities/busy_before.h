#pragma once

#include <algorithm>
#include <vector>

#include "analysis/device/device_work.h"

namespace tacho {

// Until when the work before each piece keeps a device busy. Cost: 8 bytes a piece.
class BusyBefore {
 public:
  explicit BusyBefore(const DeviceItems& device) : items_(device.items) {
    ends_.reserve(items_.size());
    TimeNs until = device.extent.start;
    for (const WorkItem& item : items_) {
      ends_.push_back(until);
      until = std::max(until, item.when.end);
    }
  }

  // The latest end of all pieces before the index `item`.
  [[nodiscard]] TimeNs Until(size_t item) const { return ends_[item]; }
  // How long nothing ran on the device from the start of the piece `first` to that of `last`.
  [[nodiscard]] DurationNs Gaps(size_t first, size_t last) const {
    DurationNs gaps;
    for (size_t i = first + 1; i <= last; ++i)
      gaps += std::max(DurationNs{}, items_[i].when.start - ends_[i]);
    return gaps;
  }

 private:
  const std::vector<WorkItem>& items_;
  std::vector<TimeNs> ends_;
};

}  // namespace tacho
