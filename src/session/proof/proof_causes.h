#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/proof/proof.h"

namespace tacho {

// Explains why a rank is not proven: gives the likely cause, judged by what the engine, its files
// and its log report. The findings have no subject; the caller sets it. `engine` is the engine's
// number in its server; `traces` are the files of this rank, `all_traces` those of the whole
// recording.

// Whether the trace's events lie in the worker's window, by the worker's clock as far as it is
// known.
bool InWindow(const WorkerExpectation& worker, const TraceEvidence& trace);

// Why the rank has no file.
Finding NoFileBecause(const WorkerExpectation& worker, int64_t engine, int64_t rank,
                      const std::vector<TraceEvidence>& all_traces);

// The finding that the worker's file is damaged, and why.
std::optional<Finding> DamageOf(const WorkerExpectation& worker, const TraceEvidence& trace);

// Why the files do not prove the rank; nullopt if they do. `steps`: the number of steps in all
// files of the rank, without empty steps; `steps_named`: whether any of the files names its steps.
std::optional<Finding> Objection(const WorkerExpectation& worker, int64_t engine,
                                 const std::vector<const TraceEvidence*>& traces, uint64_t steps,
                                 bool steps_named);

// Checks that the profilers of these ranks ran at the same time. Each element of `proven` has the
// files of one proven rank and its worker. Returns, in the same order, a finding for each rank
// whose files end before the last rank's files begin and before the last profiler ran.
struct RankFiles {
  const WorkerExpectation* worker = nullptr;
  std::vector<const TraceEvidence*> traces;
};
std::vector<std::optional<Finding>> ApartFromOthers(const std::vector<RankFiles>& proven);

// The finding that nsys's files of a proven rank name no step and hold no GPU work, although the
// engine took steps.
std::optional<Finding> NamesNoStep(const WorkerExpectation& worker, int64_t engine,
                                   const std::vector<const TraceEvidence*>& traces);

// A finding about the part of the window that a proven rank's files do not cover; nullopt if they
// cover it all.
std::optional<Finding> LeavesOut(const WorkerExpectation& worker, int64_t engine,
                                 const std::vector<const TraceEvidence*>& traces, uint64_t steps);

}  // namespace tacho
