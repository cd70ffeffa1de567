#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ranks/digest.h"
#include "model/clocks.h"

namespace tacho {

// What the join with requests needs of an engine's step. Times are on the client's clock.
struct EngineStep {
  StepLabel label;
  Interval when;             // the extent of its annotation
  TimeNs made;               // the earliest time at which its tokens may be out
  uint32_t digest_step = 0;  // index into TraceDigest::steps
};

// One engine that requests may have been sent to. A worker with data-parallel engines has several.
struct JoinEngine {
  static constexpr uint32_t kNoWorker = 0xffffffff;

  uint32_t worker = kNoWorker;    // index into RequestTable::workers; kNoWorker: unknown
  uint32_t trace = 0;             // index of the trace that `steps` are from
  std::vector<uint32_t> ranks;    // traces of all ranks of the engine, `trace` included, ascending
  std::vector<EngineStep> steps;  // sorted by start, then end
  // The times of `steps` are off by at most this much. Absent: the clocks are not related, and
  // these times mean nothing.
  std::optional<DurationNs> clock_error;
};

// The steps of a trace on the client's clock. An engine that launches work ahead ends the
// annotation long before the device has made the tokens. So EngineStep::made is the later of two
// times: the annotation's end, and the start of the step's device work plus the time for which it
// kept the device busy. This assumes that work after the tokens (a copy for the next step) is
// short. The work of a draft model is not: if the engine decodes speculatively, `made` is the
// annotation's end.
//
// `to_client`: the shift from the trace's clock to the client's; if it is nullopt or has no error,
// the two clocks are not related. Steps without counts in their annotation are kept. Cost:
// O(n log n).
JoinEngine EngineOf(const TraceDigest& digest, const std::optional<ClockShift>& to_client);

}  // namespace tacho
