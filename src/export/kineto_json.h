#pragma once

#include <span>
#include <string>

#include "base/byte_sink.h"
#include "base/result.h"
#include "export/exported_rank.h"
#include "view/window_summary.h"

namespace tacho {

// Writes JSON in Kineto's format that begins with kKinetoExportBegin: slices, instants, ranges and
// counters with their arguments, and flows (arrows) from launches to their work. tacho reads the
// same events from it, and Perfetto opens it. Steps, and idle times by cause, become threads of a
// process "tacho" (category "tacho"). If the trace was itself exported by tacho, its old threads of
// this kind are left out.
//
// If there is a single rank, it keeps its own times, processes and header. Several ranks are put on
// the clock of the first one, and the ids of their flows and ranges are made unique. The rank is
// put before the name of each process, as SGLang's merger does ("[TP01] 1234"); if the rank is
// unknown or several traces have it, the index of the trace in the run ("[trace 2] 1234").
//
// The JSON is always valid: bytes that are not UTF-8 become U+FFFD, and argument values that are
// not JSON become strings. Memory: a megabyte, plus a byte for each text in arguments. Returns
// false if a write to `to` failed. `ranks` must not be empty.
bool WriteKinetoJson(std::span<const ExportedRank> ranks, ByteSink& to);

// The most slices in an export for the page. Other viewers could not open a larger file.
inline constexpr size_t kMostExported = 2'000'000;
// The largest export for the page, in bytes. It is built in memory.
inline constexpr size_t kMostExportedBytes = size_t{256} << 20;

// Exports a selection in the same format, for the page of `tacho view`; ignores the `rows` of the
// selection. kUsage: the selection has no rank, or contains too much.
Result<std::string> ExportWindow(const ReadRanks& ranks, const Selection& selection,
                                 size_t most_bytes = kMostExportedBytes);

}  // namespace tacho
