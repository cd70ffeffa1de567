#pragma once

#include <cstdint>
#include <string_view>

#include "model/event.h"

namespace tacho {

// What a line means that a profiler logged about its own recording.
enum class ProducerLine : uint8_t {
  kOther,              // any other warning
  kLostEvents,         // events are missing, or may be
  kUnsupportedDriver,  // nsys used libraries of an older CUDA version than the driver's
};
// What a line means, as far as the words in it show (see the table in producer_line.cc). Lines
// about CPU samples are kOther, because no figure uses samples.
ProducerLine MeaningOf(std::string_view line);

// For each line of `header.producer_log`: adds the note that its meaning calls for.
void NoteProducerLines(const TraceHeader& header, Notes& notes);

}  // namespace tacho
