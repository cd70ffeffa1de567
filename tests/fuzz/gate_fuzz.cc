// The gates of `tacho compare --fail-on`: any text.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/compare/gate.h"

namespace {

tacho::RunChanges Changes() {
  tacho::RunChanges changes;
  tacho::PhaseChange& decode = changes.phases.emplace_back();
  decode.phase = tacho::Phase::kDecode;
  decode.step = decode.mean = {20e6, 20.4e6, 0.2e6};
  decode.mix = {0, 0, 1.0};
  decode.parts = {{"gemm.dense", {10e6, 10.4e6, 0.1e6}}, {"idle.host-late", {0, 0, 1.0}}};
  changes.load = {{"throughput", {1000, 950, std::nullopt}}};
  return changes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::string> names = tacho::MetricNames({"gemm.dense", "comm"});
  static const tacho::RunChanges changes = Changes();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto gate = tacho::ParseGate(text, names);
  if (!gate) {
    if (gate.error().message.empty()) std::abort();
    return 0;
  }
  if (gate->metric.empty() || !std::isfinite(gate->limit)) std::abort();
  if (tacho::Judge({*gate}, changes).empty()) std::abort();
  // What was read is read again as the same.
  const auto again = tacho::ParseGate(gate->text, names);
  if (!again || again->metric != gate->metric || again->limit != gate->limit) std::abort();
  return 0;
}
