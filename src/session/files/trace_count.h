#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/plan/budget.h"

namespace tacho {

// What a trace file holds, counted in one pass with constant memory.
struct TraceCount {
  uint64_t bytes = 0;   // the size of the stored file
  uint64_t events = 0;  // events with a time
  uint64_t steps = 0;   // engine steps, known by the names of their ranges; includes empty ones
  uint64_t empty_steps = 0;  // steps without a request
  std::optional<int64_t> first_unix_ns, last_unix_ns;
  bool whole = true;  // false: the file is cut or damaged
};
// Fails as OpenSource and ReadKinetoJson do.
Result<TraceCount> CountTrace(const std::string& path);

// The figures of the file with the most events; nullopt unless some file is whole and has events.
// `written_unix_ns`: when all files had been written, by the clock of the traces.
std::optional<ProfileFigures> FiguresOf(const std::vector<TraceCount>& traces,
                                        int64_t written_unix_ns);

}  // namespace tacho
