#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/device/device_work.h"
#include "analysis/device/idle_table.h"
#include "analysis/steps/steps.h"

namespace tacho {

// What a device did before each of its communication kernels: compute by category, copies, and idle
// time by cause. This is what makes a rank late for a collective.

// A kind of time. The first values are those of IdleCause, then come the five that are named below,
// then one for each category of compute (kLeadFirstCategory + WorkCategory).
using LeadKind = uint16_t;
inline constexpr LeadKind kLeadCopies = static_cast<LeadKind>(IdleCause::kCount);  // and memsets
inline constexpr LeadKind kLeadCollective = kLeadCopies + 1;  // a communication kernel itself
// The next two are never in LeadUps: ChargeSkew uses them for waits that nothing explains, and for
// waits that are too short for the clocks to show whom they were for.
inline constexpr LeadKind kLeadUnknown = kLeadCopies + 2;
inline constexpr LeadKind kLeadTooShort = kLeadCopies + 3;
// Never in LeadUps: ChargeSkew uses it for a wait if the host of the late rank launched no more
// slowly than the host of the waiting rank, but later.
inline constexpr LeadKind kLeadPace = kLeadCopies + 4;
inline constexpr LeadKind kLeadFirstCategory = kLeadCopies + 5;  // + WorkCategory

// The lead-up to a communication kernel is the time from the end of all earlier communication
// kernels of its device to its own start; it is empty if one of them still ran. Each nanosecond has
// one kind: compute if any compute ran (with the category of the kernel that began first), else a
// copy or memset, else idle time. Idle time is missing if it is unknown when the device was idle.
//
// Memory: 16 bytes for each communication kernel, and 6 for each kind in its lead-up.
class LeadUps {
 public:
  struct Part {
    LeadKind kind;
    DurationNs time;
  };

  // When the host launched a kernel.
  struct Launch {
    uint32_t step = kNoStep;  // index into StepTable::steps; kNoStep: none, or it is not known
    uint32_t after_ns = 0;    // from the start of the step; at most 4.3 s
  };

  std::string device;
  // By kernel: its row in Trace::gpu. Kernels are sorted by start, end, row.
  std::vector<uint32_t> rows;
  std::vector<Launch> launches;  // by kernel

  // The parts of kernel `kernel` (index into `rows`) are [FirstPart, EndOfParts). The first part
  // has the kind kLeadCollective: how long the kernel itself ran after all earlier communication
  // kernels had ended, 0 or more. The other parts are the lead-up. A part is shorter than 4.3 s, so
  // a kind may have several parts.
  [[nodiscard]] size_t FirstPart(size_t kernel) const {
    return kernel == 0 ? 0 : until_[kernel - 1];
  }
  [[nodiscard]] size_t EndOfParts(size_t kernel) const { return until_[kernel]; }
  [[nodiscard]] Part PartAt(size_t part) const { return {kinds_[part], {times_[part]}}; }

  // Appends a kernel. The first of `parts` must be that of the kernel itself.
  void Add(uint32_t row, Launch launch, std::span<const Part> parts);
  void ShrinkToFit();
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  std::vector<uint32_t> until_;  // by kernel: one past the index of its last part
  std::vector<LeadKind> kinds_;  // by part
  std::vector<uint32_t> times_;  // by part, ns
};

// Makes the lead-ups of one device.
class LeadUpBuilder {
 public:
  // `device` must be a GPU. A kernel that is not wholly inside `window` is left out. Cost:
  // O(n log k) for n work items and k communication kernels.
  explicit LeadUpBuilder(const DeviceItems& device,
                         const std::optional<Interval>& window = std::nullopt);
  // Call it for each stretch of idle time of the device. Cost: O(log k).
  void AddIdle(Interval when, IdleCause cause) { Add(when, static_cast<LeadKind>(cause)); }
  // `launch_of`: gives the launch of a row of Trace::gpu.
  LeadUps Finish(const std::function<LeadUps::Launch(uint32_t)>& launch_of) &&;

 private:
  struct Kernel {
    uint32_t row;
    Interval lead_up;
    DurationNs longer;
    bool cut;  // not wholly inside the window
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
