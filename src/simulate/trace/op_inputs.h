#pragma once

#include <cstdint>
#include <string>

#include "simulate/engine/cost_model.h"

namespace tacho::simulate {

// What record_shapes adds to the args of the operator that launches a kernel of `role`: values,
// types, strides and dimensions of the operator's inputs, spelled as Kineto does.
std::string OperatorInputs(const CostModel& cost, KernelRole role, int64_t rows);

}  // namespace tacho::simulate
