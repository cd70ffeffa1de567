#pragma once

#include <memory>

#include "arrow_abi.h"
#include "frame.h"

namespace tacho {

// Makes `stream` give `frame` as one record batch: int64, double, large_utf8, and for kWords
// dictionary(int32, large_utf8). What a column says is the field's metadata, under "description".
// Nothing is copied: the batch shares the frame's memory, which lives until the last consumer
// releases it, on whichever thread.
void ExportFrame(std::shared_ptr<const Frame> frame, ArrowArrayStream* stream);

// The same as a schema alone.
void ExportSchema(const Frame& frame, ArrowSchema* schema);

}  // namespace tacho
