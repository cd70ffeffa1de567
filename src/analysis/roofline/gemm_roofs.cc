#include "analysis/roofline/gemm_roofs.h"

#include <algorithm>
#include <cmath>

namespace tacho {
namespace {

double PeakOf(const GemmRow& row, const Accelerator& gpu) {
  // Matrices of several types are computed in the wider one.
  const size_t between = row.type.find(" x ");
  const std::string_view type = row.type;
  int64_t bytes = BytesOfInputType(type.substr(0, between));
  if (between != std::string_view::npos)
    bytes = std::max(bytes, BytesOfInputType(type.substr(between + 3)));
  if (bytes > 2) return 0;
  return gpu.flops.at(static_cast<size_t>(bytes == 2 ? MathFormat::k16Bit : MathFormat::k8Bit));
}

}  // namespace

void AddGemmRoofs(const Accelerator& gpu, std::vector<GemmRow>& gemms) {
  constexpr double kTolerance = 1.05;  // clocks and their rounding
  for (GemmRow& row : gemms) {
    const double peak = PeakOf(row, gpu), time = static_cast<double>(row.device.ns) / 1e9;
    if (peak == 0 || gpu.memory_bytes_s == 0) continue;
    const double at_flops = row.flops / peak, at_bytes = row.bytes / gpu.memory_bytes_s;
    const double roof = std::max(at_flops, at_bytes);
    if (roof > kTolerance * time) continue;
    row.roof = {{std::llround(roof * 1e9)}, at_flops / time, at_bytes / time};
  }
}

}  // namespace tacho
