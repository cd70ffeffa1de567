#pragma once

#include <cstdint>
#include <optional>

namespace tacho {

// The memory of this host, or of the container that this process is in, if that has less.
struct NodeMemory {
  uint64_t total = 0, free = 0;  // in bytes; 0: unknown
};
NodeMemory MeasureMemory();

// The memory in bytes that an analysis may use beside what runs there; nullopt: too little. Ray
// ends programs when 95 % of the memory are in use, so this is what is free below 90 %.
std::optional<uint64_t> MemoryFor(const NodeMemory& memory);

}  // namespace tacho
