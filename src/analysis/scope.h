#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/time.h"

namespace tacho {

// Which part of a trace an analysis looks at.
//
// With a window, times are cut to it, and an event counts if it starts inside. So the figures of
// two adjacent windows add up to those of both together. Without a window, everything counts.
struct Scope {
  std::optional<Interval> window;
  std::string device;  // the trace's own id; empty: all devices

  bool operator==(const Scope&) const = default;
  // Whether some work may lie in both scopes.
  [[nodiscard]] bool Overlaps(const Scope& o) const {
    return (device.empty() || o.device.empty() || device == o.device) &&
           (!window || !o.window || !window->Clip(*o.window).empty());
  }
  [[nodiscard]] bool Counts(TimeNs start) const { return !window || window->contains(start); }
  [[nodiscard]] Interval Clip(Interval when) const { return window ? when.Clip(*window) : when; }
};

}  // namespace tacho
