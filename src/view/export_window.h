#pragma once

#include <string>

#include "base/result.h"
#include "view/window_summary.h"

namespace tacho {

// More slices than this are not exported: other viewers could not open the file.
inline constexpr size_t kMostExported = 2'000'000;
// It is put together in memory.
inline constexpr size_t kMostExportedBytes = size_t{256} << 20;

// What touches the window, whole, as JSON in Kineto's format: slices, instants, ranges and counters
// with their arguments, and the flows from launch to work. tacho reads the same events from it, and
// Perfetto opens it. Steps and idle times by cause are threads of a process "tacho" (category
// "tacho").
//
// Of one rank: with its own times, processes and header. Of several: with the times of the first,
// and each rank's number in front of its processes as SGLang's merger writes it ("[TP01] 1234"),
// and ids of flows and ranges that no other rank has.
//
// `selection.rows` is not looked at. Fails with kUsage when there is no rank, or too much in it.
Result<std::string> ExportWindow(const ReadRanks& ranks, const Selection& selection,
                                 size_t most_bytes = kMostExportedBytes);

}  // namespace tacho
