#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulate/known/known_run.h"

namespace tacho::simulate {

// How the time of the steps of one phase is spent on one rank, added up over the steps. A step
// lasts from the start of its annotation to the start of the next annotation, so the last step of a
// run is not counted; all device work of a step lies inside it. step = compute + exposed_comm +
// exposed_copy + idle, exactly; docs/metrics.md defines the terms.
struct PhaseParts {
  int64_t steps = 0;
  int64_t step_ns = 0, compute_ns = 0, exposed_comm_ns = 0, exposed_copy_ns = 0, idle_ns = 0;
  int64_t comm_ns = 0, copy_ns = 0, memset_ns = 0;  // sums of the durations
  // How long work ran while other work ran, too: the sum of all durations, without their union.
  int64_t overlap_ns = 0;
  int64_t launches = 0;  // number of calls that launch device work
  struct Kernel {
    int64_t count = 0, total_ns = 0;
  };
  std::map<std::string, Kernel> kernels;  // by name; includes communication
};

struct RankParts {
  std::map<std::string, PhaseParts> phases;  // "decode", "mixed", "prefill"
};

// The parts of the run's steps, by rank.
std::vector<RankParts> PartsOf(const KnownRun& run);

// The truth about a run as JSON: its changes, and the parts of its steps with and without them.
// `without` is WithoutChanges of the same options. Schema: docs/simulate.md.
std::string KnownTruth(const KnownRun& run, const KnownRun& without);

}  // namespace tacho::simulate
