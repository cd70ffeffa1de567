#pragma once

#include "cli/simulate/traffic_folder.h"
#include "run/read_requests.h"

namespace tacho {

// The requests of simulated traffic, read back from the texts of its run folder. The traces are
// KnownTrace(traffic.engines[E], RANK) (known_run_for_test.h reads them); their times are those of
// the clock {kHost, W}, with W the index of the worker: E, or 0 for data-parallel engines.
inline RequestTable ReadTrafficRequests(const simulate::KnownTraffic& traffic) {
  return RequestsOf(TrafficRecords(traffic), TrafficRunJson(traffic));
}

}  // namespace tacho
