#pragma once

#include "analysis/evidence/integrity.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) that tell how far a trace's figures can be trusted.
// conditions.h explains `out`.
namespace tacho::schema {

// Writes or reads a duration that may be absent or negative.
void MaybeSigned(auto& out, const Key& key, auto& duration) {
  if (!IsThere(out, key.name, duration.has_value())) return;
  Ensure(out, duration);
  out.Field(key, Signed(*duration));
}

void Lost(auto& out, auto& lost) {
  constexpr auto kPatterns = static_cast<size_t>(LossPattern::kCount);
  out.BeginObject(Key{"lost", "work that was launched and is not in the file"});
  out.Field(Key{"calls", "calls without any row of their work"}, lost.lost_calls);
  out.Field(
      Key{"partial_graphs", "graph launches with fewer rows than other replays of the same graph"},
      lost.partial_graphs);
  out.Field(Key{"gpu_events",
                "lower bound of the pieces of work without a row: one for each such call, and what "
                "the graphs lack"},
            lost.lost_events);
  if (IsThere(out, "pattern", lost.any())) {
    out.Field(Key{"pattern",
                  "pattern of the calls that lost work: `start`, `end`, `start-and-end` of the "
                  "recording; `all-graphs`; `all-of-a-thread`; `all-but-one-in`: all but every "
                  "n-th; `in-a-row`: calls that follow each other; `spread`"},
              ByName(lost.pattern, LossPatternId, kPatterns));
    out.Field(Key{"one_in", "n of `all-but-one-in`"}, UnlessIs(lost.one_in, uint64_t{0}));
    out.Field(Key{"first_ns", "start of the first such call"}, lost.first);
    out.Field(
        Key{"in_doubt_ns",
            "time, over all devices, in which a device did not compute and lost work may have run"},
        lost.in_doubt);
  }
  out.Rows(Key{"apis", "calls that lost work, most first"}, lost.apis, [&](auto& api) {
    out.Field(Key{"name", "name of the call"}, api.name);
    out.Field(Key{"calls", "calls that can be joined with rows"}, api.calls);
    out.Field(Key{"lost",
                  "number of these calls that have no rows, or are graph launches that lack some"},
              api.lost);
  });
  out.End();
}

void Clocks(auto& out, auto& clocks) {
  constexpr auto kStates = static_cast<size_t>(DeviceClock::State::kCount);
  out.Rows(Key{"clocks", "the clock of each device with launched work"}, clocks, [&](auto& clock) {
    out.Field(Key{"device", "id of the device"}, clock.device);
    out.Field(Key{"state",
                  "state of the clock: `right`: 0 is within the bounds; `off`: by a constant; "
                  "`drifts`: no constant is within them"},
              ByName(clock.state, ClockStateId, kStates));
    out.Field(Key{"launched", "calls with work on the device"}, clock.launched);
    out.Field(
        Key{"before_launch", "number of `launched` that have work that starts before the call"},
        clock.before_launch);
    out.Field(Key{"waited", "calls that waited for the device, with work to wait for"},
              clock.waited);
    out.Field(Key{"after_wait", "number of `waited` that returned before the work had ended"},
              clock.after_wait);
    MaybeSigned(out,
                Key{"least_ns",
                    "the least time to add to the device's times, so that no work starts "
                    "before its launch call"},
                clock.least);
    MaybeSigned(out,
                Key{"most_ns",
                    "the most time to add, so that no work ends after a call that waited for "
                    "it, or after the profiler stopped"},
                clock.most);
    MaybeSigned(out,
                Key{"least_early_ns",
                    "`least_ns` of the first tenth of the recording: a drift that the bounds "
                    "do not show is no larger"},
                clock.least_at_start);
    MaybeSigned(out, Key{"least_late_ns", "`least_ns` of the last tenth"}, clock.least_at_end);
  });
}

void Recorder(auto& out, auto& stops) {
  if (IsThere(out, "recorder", stops.any())) {
    out.BeginRow(
        Key{"recorder",
            "late begin, or early end, of the recording of calls and device work, while ranges "
            "that otherwise always contain calls go on; absent if neither happens"});
    if (IsThere(out, "began_ns", stops.began.has_value())) {
      Ensure(out, stops.began);
      out.Field(Key{"began_ns", "start of the first call"}, *stops.began);
      out.Field(Key{"ranges_before", "ranges before it"}, stops.before);
    }
    if (IsThere(out, "stopped_ns", stops.stopped.has_value())) {
      Ensure(out, stops.stopped);
      out.Field(Key{"stopped_ns", "end of the last call"}, *stops.stopped);
      out.Field(Key{"ranges_after", "ranges after it"}, stops.after);
    }
    out.Field(Key{"range", "the most frequent kind of these ranges: the name without digits"},
              stops.witness);
    out.End();
  }
}

void IntegrityFields(auto& out, auto& integrity) {
  auto& lost = integrity.lost;
  auto& impossible = integrity.impossible;
  out.BeginObject(Key{"integrity",
                      "evidence whether the trace's own figures are possible: docs/metrics.md; "
                      "absent without a launch"});
  out.Field(Key{"calls",
                "calls that put kernels, graphs or copies on a device and can be joined with rows, "
                "without those of the next three fields"},
            lost.calls);
  out.Field(Key{"captured", "calls without a row because a stream was being captured"},
            lost.captured);
  out.Field(Key{"failed", "calls without a row because they returned an error"}, lost.failed);
  out.Field(
      Key{"cut_off",
          "the last calls, so shortly before the end that their work may not have run by then"},
      lost.cut_off);
  Lost(out, lost);
  Clocks(out, integrity.clocks);
  out.BeginRow(Key{"order", "the order of the work of each stream"});
  out.Field(
      Key{"compared", "pieces of work that one thread launched onto one stream, graphs left out"},
      impossible.compared);
  out.Field(Key{"out_of_order", "number of these that start before one that was launched earlier"},
            impossible.out_of_order);
  out.Field(
      Key{"stacked",
          "number of these that start while three or more others, launched earlier, still run"},
      impossible.stacked);
  out.End();
  Recorder(out, integrity.stops);
  out.End();
}

}  // namespace tacho::schema
