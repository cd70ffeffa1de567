#pragma once

#include <cstdint>
#include <string>

#include "simulate/engine/cost_model.h"

namespace tacho::simulate {

// With record_shapes, the operator that launches a kernel of `role` has more args: values, types,
// strides and dimensions of its inputs. Returns them, spelled as Kineto does.
std::string OperatorInputs(const CostModel& cost, KernelRole role, int64_t rows);

}  // namespace tacho::simulate
