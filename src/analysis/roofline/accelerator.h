#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/decoder_shape.h"
#include "model/trace.h"

namespace tacho {

// The peak rates of an accelerator by its data sheet, for dense matrices, at its boost clock.
struct Accelerator {
  std::string_view id;                       // "h100-sxm"
  std::array<double, kMathFormats> flops{};  // a second, by MathFormat; 0: it has no such format
  double memory_bytes_s = 0;
  double link_bytes_s = 0;  // to the other devices of its node, in one direction; 0: not known
};

// Finds an accelerator in rules/accelerators.rules by its id or by the name that a trace has for it
// ("NVIDIA H100 80GB HBM3"). Upper and lower case do not matter. nullopt if the name is not known.
// Names that several products share ("NVIDIA H100") and names of a part of a device are not known.
std::optional<Accelerator> FindAccelerator(std::string_view name);
// That of a trace by the name of its devices; nullopt also if they have several names.
std::optional<Accelerator> AcceleratorOf(const TraceHeader& header);
std::vector<std::string_view> AcceleratorIds();  // in the order of the rules

}  // namespace tacho
