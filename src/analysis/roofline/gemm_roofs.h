#pragma once

#include <vector>

#include "analysis/host/gemms.h"
#include "analysis/roofline/accelerator.h"

namespace tacho {

// Sets the roofs of matrix products: the longer of their FLOPs at the peak of their
// format, and their bytes at the peak of the memory. A row stays without them if the accelerator
// has no peak for its type (32 and 64 bits), or if its calls were faster than the peaks allow,
// because their matrices were in a cache.
void AddGemmRoofs(const Accelerator& gpu, std::vector<GemmRow>& gemms);

}  // namespace tacho
