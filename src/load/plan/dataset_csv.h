#pragma once

#include <string_view>

#include "load/plan/dataset.h"

namespace tacho {

// The traces that come as CSV: Azure's and BurstGPT's. kUnreadable: no such header.
Result<void> ReadCsv(std::string_view bytes, const DatasetOptions& options, Dataset& dataset);

}  // namespace tacho
