#pragma once

#include <span>
#include <string_view>

#include "base/byte_sink.h"
#include "base/time.h"
#include "query/queried_trace.h"

namespace tacho {

// What each file of this format begins with.
inline constexpr std::string_view kGpuCsvBegin =
    "trace,rank,device,stream,kind,name,short_name,category,start_ns,dur_ns,end_ns,correlation,"
    "launch";

// Writes CSV (RFC 4180) with a heading (docs/export.md): one line for each piece of GPU work that
// touches the window of its trace (`windows`: by trace, on its clock), trace by trace, by start.
// For a CPU engine: the operators that do its work, device by device. Unknown cells are empty.
// Memory: 4 bytes for each piece, of one trace at a time. False: a write to `to` failed.
bool WriteGpuCsv(const QueriedRun& run, std::span<const Interval> windows, ByteSink& to);

// Whether a trace has a line in that window. Cost: O(n) at most.
bool HasGpuLines(const QueriedTrace& of, Interval window);

}  // namespace tacho
