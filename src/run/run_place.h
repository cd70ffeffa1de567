#pragma once

#include <optional>
#include <string>

namespace tacho {

// Where a trace is in a run folder of `tacho record`: FOLDER/traces/WORKER/...
struct PlaceInRun {
  std::string folder, worker;
};
// Looks only at the path of the trace. nullopt if it is not in a run folder.
std::optional<PlaceInRun> RunPlaceOf(const std::string& trace);

// The text of FOLDER/run.json; "" if it cannot be read.
std::string ReadRunJson(const std::string& folder);

}  // namespace tacho
