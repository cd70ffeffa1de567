#pragma once

#include <cstdint>
#include <vector>

namespace tacho {

// The ancestors of a process of this host, parent first, up to init; none on a system without /proc
// and for a process that is gone.
std::vector<int64_t> AncestorsOf(int64_t pid);

}  // namespace tacho
