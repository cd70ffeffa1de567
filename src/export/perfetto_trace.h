#pragma once

#include <span>
#include <string_view>

#include "base/byte_sink.h"
#include "export/exported_rank.h"

namespace tacho {

// Each file of this format begins with a track of this name, without events.
inline constexpr std::string_view kPerfettoMark = "exported by tacho";

// Whether a file begins like one that WritePerfetto wrote.
bool IsPerfettoExport(std::string_view start);

// Perfetto's protobuf (perfetto/protos/perfetto/trace/trace.proto): the rows of the timeline as
// tracks, below one track for each rank: computed rows (steps by phase, busy, idle by cause,
// communication), streams, threads, counters. Slices that overlap without nesting, which Perfetto
// would drop, go to further tracks of the same name, which it shows as one. Names, categories and
// arguments are interned; flows lead from each launch to each piece of its work.
//
// Times are nanoseconds of Unix time if the first rank's trace holds it, else of the run's clock,
// shifted if any would be negative: Perfetto has no times before 0. All texts are UTF-8.
//
// Memory: a megabyte, a bit for each text of a trace, 8 bytes a piece of GPU work, and the open
// slices. False: a write to `to` failed. `ranks` is not empty.
bool WritePerfetto(std::span<const ExportedRank> ranks, ByteSink& to);

}  // namespace tacho
