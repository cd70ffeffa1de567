#pragma once

#include <cstddef>

namespace tacho {

// Starts loading these bytes into the cache and does not wait until they are loaded, which takes
// some hundred nanoseconds. Any address is allowed, even an invalid one. Cost: 1 ns for each 64
// bytes.
inline void Prefetch(const void* begin, size_t bytes) {
  constexpr size_t kLine = 64;
  const char* const at = static_cast<const char*>(begin);
  for (size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(at + i, 1);
}

}  // namespace tacho
