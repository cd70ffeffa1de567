// What is read of a recording's run.json and of the first line of its plan.json: any text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "run/run_in_flight.h"
#include "session/run_folder/kept_recording.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto kept = tacho::KeptRecordingOf(text)) {
    Require(kept->missing.size() <= 100 && kept->models.size() <= 100);
    for (const auto* window : {&kept->baseline, &kept->profiled}) {
      if (!*window) continue;
      Require((*window)->duration.ns >= 0 && (*window)->requests_done >= 0);
      Require((*window)->requests_failed >= 0 && (*window)->output_tokens >= 0);
    }
  }
  // Times since 1970, in order and apart: their lengths and sum do not overflow.
  for (const auto& [worker, in_flight] : tacho::InFlightOfRunJson(text)) {
    Require(in_flight.uncertainty.ns >= 0);
    int64_t end = -1;
    for (const tacho::Interval& when : in_flight.when.intervals()) {
      Require(when.start.ns > end && when.end >= when.start);
      end = when.end.ns;
    }
  }
  if (const auto load = tacho::KeptLoadOf(text)) {
    Require(load->contains("arrivals") && !load->contains("seed"));
    for (const auto& [key, value] : *load) Require(!value.empty());
  }
  return 0;
}
