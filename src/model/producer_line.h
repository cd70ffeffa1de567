#pragma once

#include <cstdint>
#include <string_view>

#include "model/event.h"

namespace tacho {

// What a line means that a profiler logged about its own recording.
enum class ProducerLine : uint8_t {
  kOther,              // a warning
  kLostEvents,         // events are missing, or may be
  kUnsupportedDriver,  // nsys traced with the libraries of an older CUDA than the driver's
};
// By the words of the line (a table in producer_line.cc). Lines about samples of the CPU are
// kOther: no figure is made of them.
ProducerLine MeaningOf(std::string_view line);

// Notes what the lines of `header.producer_log` mean, each once.
void NoteProducerLines(const TraceHeader& header, Notes& notes);

}  // namespace tacho
