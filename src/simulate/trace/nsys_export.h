#pragma once

#include <span>

#include "io/sqlite.h"
#include "simulate/engine/recording.h"

namespace tacho::simulate {

// Writes the recording into an empty database, as `nsys export --type sqlite` of nsys 2026.2 does
// after
//
//   nsys profile -t cuda,nvtx --cuda-graph-trace=node
//
// around all ranks, in one database. Each rank is a process: its calls, device work and waits, and
// as NVTX ranges its steps and, under torch's emit_nvtx, its operators. The same events as those of
// WriteKinetoTrace, at the same times: 0 is the start of the recording. What an export has no
// place for is left out: ranks' numbers, operators' ids at calls and device work, Python frames,
// shapes.
Result<void> WriteNsysExport(std::span<const TraceSource> ranks, const Recording& recording,
                             SqliteDatabase& database);

}  // namespace tacho::simulate
