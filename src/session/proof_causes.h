#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/proof.h"

namespace tacho {

// Why a rank is not proven, in words for the user: the likely cause by what the engine, its files
// and its log tell (docs/troubleshooting.md). `engine` is its number behind the server, `traces`
// are its own files, unless all are.

// Whether the events lie in the worker's window, by the worker's clock as far as it is known.
bool InWindow(const WorkerExpectation& worker, const TraceEvidence& trace);

// Why there is no file of the rank.
std::string NoFileBecause(const WorkerExpectation& worker, int64_t engine, int64_t rank,
                          const std::vector<TraceEvidence>& all_traces);

// Why the files do not prove the rank; "" when they do. `steps` are those in all of them, without
// the empty ones; `steps_told`: whether any file tells them.
std::string Objection(const WorkerExpectation& worker, int64_t engine,
                      const std::vector<const TraceEvidence*>& traces, uint64_t steps,
                      bool steps_told);

// What a proven rank's file does not cover of its window; "" when nothing is to be said.
std::string LeavesOut(const WorkerExpectation& worker, int64_t engine,
                      const std::vector<const TraceEvidence*>& traces, uint64_t steps);

}  // namespace tacho
