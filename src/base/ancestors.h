#pragma once

#include <cstdint>
#include <vector>

namespace tacho {

// The ancestors of a process on this host, parent first, up to init. Empty without /proc, and for a
// process that has ended.
std::vector<int64_t> AncestorsOf(int64_t pid);

}  // namespace tacho
