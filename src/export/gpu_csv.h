#pragma once

#include <span>
#include <string_view>

#include "base/byte_sink.h"
#include "base/time.h"
#include "query/queried_trace.h"

namespace tacho {

// Every file of this format begins with this text.
inline constexpr std::string_view kGpuCsvBegin =
    "trace,rank,device,stream,kind,name,short_name,category,start_ns,dur_ns,end_ns,correlation,"
    "launch";

// Writes CSV (RFC 4180) with a header row (docs/export.md). There is one line for each piece of GPU
// work that overlaps the window of its trace (`windows`: by trace, on its clock). The lines are
// sorted by trace, then by start. For a CPU engine there is one line for each operator that does
// its work, device by device. Unknown cells are empty. Memory: 4 bytes for each piece of one trace.
// Returns false if a write to `to` failed.
bool WriteGpuCsv(const QueriedRun& run, std::span<const Interval> windows, ByteSink& to);

// Whether WriteGpuCsv writes any line for this trace and window. Cost: at most O(n).
bool HasGpuLines(const QueriedTrace& of, Interval window);

}  // namespace tacho
