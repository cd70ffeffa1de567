#pragma once

#include <span>
#include <string_view>

#include "base/byte_sink.h"
#include "export/exported_rank.h"

namespace tacho {

// Every file of this format begins with a track of this name that has no events.
inline constexpr std::string_view kPerfettoMark = "exported by tacho";

// Whether a file begins like those that WritePerfetto writes.
bool IsPerfettoExport(std::string_view start);

// Writes Perfetto's protobuf (perfetto/protos/perfetto/trace/trace.proto). There is one track for
// each rank, and below it a track for each row of the timeline: computed rows (steps by phase,
// busy, idle by cause, communication), streams, threads, counters. Perfetto would drop slices that
// overlap without nesting; these go to further tracks of the same name, which it shows as one.
// Names, categories and arguments are interned. Flows lead from each launch to each piece of its
// work.
//
// Times are Unix times in ns if the trace of the first rank knows these; else times on the run's
// clock, shifted if any would be negative, because Perfetto has no times before 0. All texts are
// UTF-8.
//
// Memory: a megabyte, a bit for each text of a trace, 8 bytes a piece of GPU work, and the open
// slices. Returns false if a write to `to` failed. `ranks` must not be empty.
bool WritePerfetto(std::span<const ExportedRank> ranks, ByteSink& to);

}  // namespace tacho
