#pragma once

#include <span>
#include <string>

#include "base/byte_sink.h"
#include "base/result.h"
#include "export/exported_rank.h"
#include "view/window_summary.h"

namespace tacho {

// JSON in Kineto's format, beginning with kKinetoExportBegin: slices, instants, ranges and counters
// with their arguments, and the flows from launch to work. tacho reads the same events from it, and
// Perfetto opens it. Steps and idle times by cause are threads of a process "tacho" (category
// "tacho"). If the trace is itself an export, its own such threads are not written again.
//
// A single rank keeps its own times, processes and header. Several ranks are put on the clock of
// the first, and ids of flows and ranges become unique. The rank is put before each process, as
// SGLang's merger does ("[TP01] 1234"). If it is unknown, or several traces have it, the index of
// the trace in the run is used ("[trace 2] 1234").
//
// Always valid JSON: bytes that are not UTF-8 become U+FFFD, argument values that are not JSON
// become strings. Memory: a megabyte, and a byte for each text of the arguments. False: a write to
// `to` failed. `ranks` is not empty.
bool WriteKinetoJson(std::span<const ExportedRank> ranks, ByteSink& to);

// The most slices of an export for a page: other viewers could not open a larger file.
inline constexpr size_t kMostExported = 2'000'000;
// The largest export for a page, which is built in memory.
inline constexpr size_t kMostExportedBytes = size_t{256} << 20;

// Exports a selection (`selection.rows` is ignored) in the same format, for the page. kUsage: the
// selection has no rank, or too much in it.
Result<std::string> ExportWindow(const ReadRanks& ranks, const Selection& selection,
                                 size_t most_bytes = kMostExportedBytes);

}  // namespace tacho
