#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// Where a trace is in a run folder of `tacho record`: FOLDER/traces/WORKER/...
struct PlaceInRun {
  std::string folder, worker;
};
// Looks only at the path of the trace. nullopt if it is not in a run folder.
std::optional<PlaceInRun> RunPlaceOf(const std::string& trace);

// The name in a run folder of the config.json of a worker's model.
std::string ModelConfigName(std::string_view worker);
// The same of the hf_quant_config.json beside it.
std::string QuantizationName(std::string_view worker);

// The text of FOLDER/run.json; "" if it cannot be read.
std::string ReadRunJson(const std::string& folder);

}  // namespace tacho
