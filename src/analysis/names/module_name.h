#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tacho {

// A module in a frame of PyTorch's profiler, which numbers those of a class from 0:
// "nn.Module: DecoderLayer_17".
struct ModuleName {
  std::string_view of_class;
  std::optional<uint32_t> number = {};
};
// nullopt if the frame is not of a module. The result points into `frame`.
std::optional<ModuleName> ModuleNameOf(std::string_view frame);

}  // namespace tacho
