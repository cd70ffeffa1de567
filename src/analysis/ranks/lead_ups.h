#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/device/device_work.h"
#include "analysis/device/idle_table.h"

namespace tacho {

// What a device did before each of its communication kernels: its compute by category, copies, and
// idle time by cause. This is what makes a rank late for a collective.

// A kind of time: first the causes of idle time (IdleCause), then these, then compute by category.
using LeadKind = uint16_t;
inline constexpr LeadKind kLeadCopies = static_cast<LeadKind>(IdleCause::kCount);  // and memsets
inline constexpr LeadKind kLeadCollective = kLeadCopies + 1;  // a communication kernel itself
inline constexpr LeadKind kLeadUnknown = kLeadCopies + 2;     // only for blame: not explained
// Only for blame: a wait that is too short for the clocks to show whom it was for.
inline constexpr LeadKind kLeadTooShort = kLeadCopies + 3;
inline constexpr LeadKind kLeadFirstCategory = kLeadCopies + 4;  // + WorkCategory

// The lead-up to a communication kernel is the time from the end of all earlier communication
// kernels of its device to its own start; empty if one of them still ran. Each nanosecond of it has
// one kind: compute if any compute ran (the category is that of the kernel that began first), else
// a copy or memset, else idle time. Idle time is missing if it is unknown when the device was idle.
//
// Memory: 8 bytes a communication kernel, and 6 for each kind in its lead-up.
class LeadUps {
 public:
  struct Part {
    LeadKind kind;
    DurationNs time;
  };

  std::string device;
  // By kernel, in the order of (start, end, row).
  std::vector<uint32_t> rows;  // of Trace::gpu

  // `kernel`: index into `rows`. The first part is the kernel itself (kLeadCollective): how long it
  // still ran after all earlier communication kernels had ended, 0 or more. The other parts are the
  // lead-up. A part is shorter than 4.3 s, so a kind may have several parts.
  [[nodiscard]] size_t FirstPart(size_t kernel) const {
    return kernel == 0 ? 0 : until_[kernel - 1];
  }
  [[nodiscard]] size_t EndOfParts(size_t kernel) const { return until_[kernel]; }
  [[nodiscard]] Part PartAt(size_t part) const { return {kinds_[part], {times_[part]}}; }

  // Appends a kernel; `parts` begin with the kernel itself.
  void Add(uint32_t row, std::span<const Part> parts);
  void ShrinkToFit();
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  std::vector<uint32_t> until_;  // by kernel: index past its last part
  std::vector<LeadKind> kinds_;  // by part
  std::vector<uint32_t> times_;  // by part, ns
};

// Makes the lead-ups of one device.
class LeadUpBuilder {
 public:
  // `device` must be of a GPU. A kernel that is not wholly inside `window` gets no lead-up. Cost:
  // O(n log k) for n items and k communication kernels.
  explicit LeadUpBuilder(const DeviceItems& device,
                         const std::optional<Interval>& window = std::nullopt);
  // To be called for each stretch of idle time of the device. Cost: O(log k).
  void AddIdle(Interval when, IdleCause cause) { Add(when, static_cast<LeadKind>(cause)); }
  LeadUps Finish() &&;

 private:
  struct Kernel {
    uint32_t row;
    Interval lead_up;
    DurationNs longer;
    bool cut;  // by the window
  };
  struct Piece {
    uint32_t kernel;
    LeadKind kind;
    DurationNs time;
  };
  void AddCompute(const DeviceItems& device);
  void Add(Interval when, LeadKind kind);

  std::string device_;
  std::vector<Kernel> kernels_;
  std::vector<Piece> pieces_;
};

}  // namespace tacho
