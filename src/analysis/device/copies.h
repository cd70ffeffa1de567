#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/scope.h"
#include "model/trace.h"

namespace tacho {

// Copies of one kind.
struct CopyRow {
  std::string kind;  // "HtoD", "DtoD", ...; the whole name when it has no such part
  uint64_t count = 0;
  DurationNs total;
  std::optional<int64_t> bytes;  // sum of the known sizes; absent when no event tells its size
  // Copies whose name has "Pageable" in it ("Memcpy HtoD (Pageable -> Device)").
  uint64_t pageable = 0;
  [[nodiscard]] std::optional<double> gigabytes_per_second() const;  // bytes / total, decimal GB
};
struct MemsetRow {
  uint64_t count = 0;
  DurationNs total;
  std::optional<int64_t> bytes;
};
struct CopyTable {
  std::vector<CopyRow> copies;  // sorted by total time, longest first, then by kind
  MemsetRow memsets;
};

CopyTable TabulateCopies(const Trace& trace, const Scope& scope = {});

}  // namespace tacho
