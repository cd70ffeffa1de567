#pragma once

#include <cstdint>
#include <string_view>

namespace tacho {

// What a host call waits for, by its name.
enum class Waits : uint8_t { kNo, kForDevice, kForStream };

inline Waits WaitsFor(std::string_view call) {
  const auto has = [&](std::string_view word) { return call.find(word) != std::string_view::npos; };
  if (has("DeviceSynchronize") || has("CtxSynchronize")) return Waits::kForDevice;
  if (has("StreamSynchronize")) return Waits::kForStream;
  return Waits::kNo;
}

}  // namespace tacho
