#pragma once

#include <optional>
#include <string>

namespace tacho {

// Where a trace lies in a run folder of `tacho record`: FOLDER/traces/WORKER/...
struct PlaceInRun {
  std::string folder, worker;
};
// Decided by the path of the trace alone; nullopt if it lies in no run folder.
std::optional<PlaceInRun> RunPlaceOf(const std::string& trace);

// The text of FOLDER/run.json; "" if it cannot be read.
std::string ReadRunJson(const std::string& folder);

}  // namespace tacho
