#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "text/html.h"

namespace tacho {

// What a report draws besides its tables, as plain values. They are made in cli/ from the
// timeline's lanes in view/.

struct DrawnSpan {
  // What kind of name the span has; an annotation may hold any text.
  enum class Name : uint8_t { kOwnWords, kKernel, kCode, kAnnotation };
  double from = 0, to = 0;  // 0..1 of the window
  std::string css;          // CSS class of its colour
  std::string name = {};    // "" if the span is too short for text
  Name name_is = Name::kOwnWords;
};
struct DrawnRow {
  enum class Of : uint8_t { kOwnWords, kStream, kThread };
  std::string label;
  std::vector<DrawnSpan> spans = {};
  Of of = Of::kOwnWords;
  // For a stream or a thread: the part of the label that comes from the trace.
  std::string name = {};
};
// A short time of one trace, drawn as rows.
struct MiniTimeline {
  std::string title;  // "the slowest decode step"
  size_t trace = 0;   // index into RunAnalysis::traces
  Interval when;
  std::vector<DrawnRow> rows = {};
};

// The time from the start of each step of a phase to the start of the next step, added up over the
// devices. The parts add up to `total`.
struct PhaseTime {
  struct Part {
    std::string name, css;
    DurationNs time;
  };
  std::string phase;
  uint64_t steps = 0;
  DurationNs total;
  std::vector<Part> parts = {};
};

struct Drawings {
  std::vector<PhaseTime> phases = {};  // for the rank whose steps the screens show
  std::vector<MiniTimeline> timelines = {};
};

}  // namespace tacho
