#pragma once

#include "analysis/evidence/integrity.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) of what a trace says about its own figures, to write and to
// read, as in device_fields.h.
namespace tacho::schema {

// A duration that may be absent, or negative.
void MaybeSigned(auto& out, std::string_view key, auto& duration) {
  if (!IsThere(out, key, duration.has_value())) return;
  if constexpr (kReads<decltype(out)>) duration.emplace();
  out.Field(key, Signed(*duration));
}

void Lost(auto& out, auto& lost) {
  constexpr auto kPatterns = static_cast<size_t>(LossPattern::kCount);
  out.BeginObject("lost");
  out.Fields("calls", lost.lost_calls, "partial_graphs", lost.partial_graphs, "gpu_events",
             lost.lost_events);
  if (IsThere(out, "pattern", lost.any())) {
    out.Fields("pattern", ByName(lost.pattern, LossPatternId, kPatterns), "one_in",
               UnlessIs(lost.one_in, uint64_t{0}), "first_ns", lost.first, "in_doubt_ns",
               lost.in_doubt);
  }
  out.Rows("apis", lost.apis,
           [&](auto& api) { out.Fields("name", api.name, "calls", api.calls, "lost", api.lost); });
  out.End();
}

void IntegrityFields(auto& out, auto& integrity) {
  auto& lost = integrity.lost;
  auto& impossible = integrity.impossible;
  auto& stops = integrity.stops;
  out.BeginObject("integrity");
  out.Fields("calls", lost.calls, "captured", lost.captured, "failed", lost.failed, "cut_off",
             lost.cut_off);
  Lost(out, lost);
  constexpr auto kStates = static_cast<size_t>(DeviceClock::State::kCount);
  out.Rows("clocks", integrity.clocks, [&](auto& clock) {
    out.Fields("device", clock.device, "state", ByName(clock.state, ClockStateId, kStates),
               "launched", clock.launched, "before_launch", clock.before_launch, "waited",
               clock.waited, "after_wait", clock.after_wait);
    MaybeSigned(out, "least_ns", clock.least);
    MaybeSigned(out, "most_ns", clock.most);
    MaybeSigned(out, "least_early_ns", clock.least_at_start);
    MaybeSigned(out, "least_late_ns", clock.least_at_end);
  });
  out.Row("order", "compared", impossible.compared, "out_of_order", impossible.out_of_order,
          "stacked", impossible.stacked);
  if (IsThere(out, "recorder", stops.any())) {
    out.BeginRow("recorder");
    if (IsThere(out, "began_ns", stops.began.has_value())) {
      if constexpr (kReads<decltype(out)>) stops.began.emplace();
      out.Fields("began_ns", *stops.began, "ranges_before", stops.before);
    }
    if (IsThere(out, "stopped_ns", stops.stopped.has_value())) {
      if constexpr (kReads<decltype(out)>) stops.stopped.emplace();
      out.Fields("stopped_ns", *stops.stopped, "ranges_after", stops.after);
    }
    out.Field("range", stops.witness);
    out.End();
  }
  out.End();
}

}  // namespace tacho::schema
