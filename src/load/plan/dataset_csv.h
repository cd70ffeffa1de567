#pragma once

#include <string_view>

#include "load/plan/dataset.h"

namespace tacho {

// Reads a trace in Azure's or BurstGPT's CSV. kUnreadable: an unknown header.
Result<void> ReadCsv(std::string_view bytes, const DatasetOptions& options, Dataset& dataset);

}  // namespace tacho
