#pragma once

#include <span>

#include "io/sqlite.h"
#include "simulate/engine/recording.h"

namespace tacho::simulate {

// Writes a recording of all ranks into an empty database, as `nsys export --type sqlite` of nsys
// 2026.2 does after
//
//  nsys profile -t cuda,nvtx --cuda-graph-trace=node
//
// Each rank is a process with its calls, device work and waits; its NVTX ranges are the steps and,
// under torch's emit_nvtx, the operators. The events and times are those of WriteKinetoTrace, with
// the recording's start as 0. What such an export cannot hold is left out: the ranks' numbers, the
// operators' ids at calls and device work, Python frames, shapes.
Result<void> WriteNsysExport(std::span<const TraceSource> ranks, const Recording& recording,
                             SqliteDatabase& database);

}  // namespace tacho::simulate
