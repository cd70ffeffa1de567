#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/scope.h"
#include "model/trace.h"

namespace tacho {

// Copies of one kind. `pageable` is counted if the name says which memory ("Memcpy HtoD (Pageable
// -> Device)").
struct CopyRow {
  std::string kind;  // "HtoD", "DtoD", ...; the whole name when it has no such part
  uint64_t count = 0;
  DurationNs total;
  std::optional<int64_t> bytes;  // absent when no event has them
  uint64_t pageable = 0;         // copies with a pageable end
  [[nodiscard]] std::optional<double> gigabytes_per_second() const;  // bytes / total, decimal GB
};
struct MemsetRow {
  uint64_t count = 0;
  DurationNs total;
  std::optional<int64_t> bytes;
};
struct CopyTable {
  std::vector<CopyRow> copies;  // by total, longest first, then kind
  MemsetRow memsets;
};

CopyTable TabulateCopies(const Trace& trace, const Scope& scope = {});

}  // namespace tacho
