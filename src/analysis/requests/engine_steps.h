#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ranks/digest.h"
#include "model/clocks.h"

namespace tacho {

// A step of an engine as requests are joined with it.
struct EngineStep {
  StepLabel label;
  Interval when;             // of its annotation, by the client's clock
  TimeNs made;               // its tokens are not out before this time
  uint32_t digest_step = 0;  // index into TraceDigest::steps
};

// One engine that requests may have been sent to. A worker with data-parallel engines has several.
struct JoinEngine {
  static constexpr uint32_t kNoWorker = 0xffffffff;

  uint32_t worker = kNoWorker;    // index into RequestTable::workers; kNoWorker: unknown
  uint32_t trace = 0;             // index of the trace that `steps` are from
  std::vector<uint32_t> ranks;    // traces of all ranks of the engine, `trace` included, ascending
  std::vector<EngineStep> steps;  // by start, then end
  // The true time by the client's clock is at most so far from EngineStep::when; absent: the clocks
  // are not related, and `when` has no meaning.
  std::optional<DurationNs> clock_error;
};

// The steps of a trace on the client's clock. An engine that launches work ahead ends the
// annotation long before the device has made the tokens. So they are out no earlier than the
// annotation's end, and no earlier than the start of the step's work on the device plus the time
// that it kept the device busy. Work that follows the tokens (a copy for the next step) is short.
// That of a draft model is not: if the engine decodes speculatively, only the annotation counts.
//
// `to_client`: the shift from the trace's clock to the client's. It is not known if it is nullopt,
// or has no error. A step whose annotation has no counts is kept, without counts. Cost: O(n log n).
JoinEngine EngineOf(const TraceDigest& digest, const std::optional<ClockShift>& to_client);

}  // namespace tacho
