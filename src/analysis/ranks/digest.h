#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device/idle.h"
#include "analysis/ranks/comm_candidates.h"
#include "analysis/ranks/lead_ups.h"
#include "analysis/requests/step_cells.h"
#include "analysis/steps/steps.h"

namespace tacho {

struct PreparedTrace;

// What the analyses over ranks and requests need to know of an engine's step. Times are on the
// trace's clock.
struct DigestStep {
  StepLabel label;
  Interval when;    // the extent of its annotation
  Interval device;  // from the first start to the last end of its device work; empty: unknown
  DurationNs device_busy;  // how long its work kept the device busy; 0 if not known
  // Idle time because the host launched late (host-late and in-launch-call), from the start of the
  // step's work to the start of the next step's work, summed over devices. 0 if `device` is empty,
  // or if the causes of idle time are unknown.
  DurationNs host_late;
};

// What the analyses over ranks and requests keep of a trace. It owns all that it holds.
//
// Memory: 40 bytes and a lead-up (lead_ups.h) for each communication kernel, 376 bytes a step, and
// the names of groups and streams. A trace of 100,000 collectives and 20,000 steps takes 11 MB, and
// 6 MB for lead-ups of eight kinds.
struct TraceDigest {
  static constexpr size_t kBytesOfKernel = 40, kBytesOfStep = 376;
  static constexpr size_t kBytesOfLeadUp = 64;  // of up to eight kinds

  Communication communication;  // of the whole trace, whatever the scope is
  std::vector<DigestStep> steps;
  StepCells cells;  // of `steps`; empty unless the scope is the whole trace
  // By device: the lead-ups of communication kernels in the scope; empty on a CPU engine. They have
  // no idle time if it is unknown when devices were idle.
  std::vector<LeadUps> lead_ups;
  std::vector<std::string> categories;  // by WorkCategory: its name

  [[nodiscard]] size_t MemoryBytes() const;
};

// Makes the digest of one trace from the results of its other analyses.
class DigestBuilder {
 public:
  // `scope`: the one with which `prepared` was made. Cost: O(n log n), as FindStepWork and
  // LeadUpBuilder.
  // `prepared` must outlive it.
  explicit DigestBuilder(const PreparedTrace& prepared, const Scope& scope = {});

  // Call it for each stretch that AttributeIdle reports, in its order. Cost: O(log s) for s steps
  // and communication kernels.
  void AddIdle(const IdleStretch& stretch);
  // `idle_known`: IdleTable::known. If it is false, no idle time is kept.
  TraceDigest Finish(bool idle_known) &&;

 private:
  TraceDigest digest_;
  std::optional<StepCellsBuilder> cells_;
  std::vector<uint32_t> by_device_start_;  // steps with device work, sorted by its start
  std::vector<LeadUpBuilder> lead_ups_;    // by device; empty on a CPU engine
  const PreparedTrace& prepared_;
};

}  // namespace tacho
