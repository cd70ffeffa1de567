#pragma once

#include <cstdint>
#include <string_view>

#include "model/event.h"

namespace tacho {

// The meaning of a line that a profiler logged about its own recording.
enum class ProducerLine : uint8_t {
  kOther,              // a warning
  kLostEvents,         // events are missing, or may be
  kUnsupportedDriver,  // nsys traced with the libraries of an older CUDA than the driver's
};
// Decides by the words of the line (a table in producer_line.cc). Lines about samples of the CPU
// are kOther: no figure uses them.
ProducerLine MeaningOf(std::string_view line);

// Adds to `notes`, for each line of `header.producer_log`, the note that fits the line's meaning.
void NoteProducerLines(const TraceHeader& header, Notes& notes);

}  // namespace tacho
