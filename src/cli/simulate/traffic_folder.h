#pragma once

#include <string>

#include "base/result.h"
#include "simulate/known/known_traffic.h"

namespace tacho {

// Two files of a run folder for simulated traffic, as `tacho record` writes them: requests.jsonl,
// and a run.json with the facts that show which requests went to which worker (workers, clocks,
// proof, requests in flight).
std::string TrafficRecords(const simulate::KnownTraffic& traffic);
std::string TrafficRunJson(const simulate::KnownTraffic& traffic);

// Writes the run folder: these two files, traces/WORKER/, and truth.json. Returns the lines to
// print, one per file. An earlier run of this command in the folder is removed first.
Result<std::string> WriteTrafficFolder(const simulate::KnownTraffic& traffic,
                                       const std::string& folder);

}  // namespace tacho
