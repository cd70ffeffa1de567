// The events of a trace, as Kineto orders them: operators, then Python frames, then calls and
// device events with their flows, each step anew in each of these passes; ids are counted alike in
// all of them, so nothing is kept.
#pragma once

#include <cstdint>

#include "step_model.h"
#include "trace_options.h"
#include "trace_writer.h"

namespace tacho::bench {

struct EventTotals {
  std::int64_t end_ns = 0;  // of the last operator and a little more
  std::int64_t operators = 0;
};
// Writes the first `steps` steps of the model.
EventTotals WriteEvents(const TraceOptions& options, std::int64_t steps, StepModel& model,
                        Sink& sink);

}  // namespace tacho::bench
