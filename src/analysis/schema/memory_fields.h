#pragma once

#include "analysis/device/memory.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) of memory over time, to write and to read, as in
// device_fields.h.
namespace tacho::schema {

// Whether an optional member is there. When reading, creates it.
bool HasPart(auto& out, std::string_view key, auto& part) {
  if (!IsThere(out, key, part.has_value())) return false;
  if constexpr (kReads<decltype(out)>) part.emplace();
  return true;
}

void ListUnlessEmpty(auto& out, std::string_view key, auto& items) {
  if (IsThere(out, key, !items.empty())) out.List(key, items);
}

void Peak(auto& out, auto& peak) {
  out.BeginObject("peak");
  out.Fields("at_ns", peak.at, "allocated_bytes", peak.allocated, "reserved_bytes", peak.reserved);
  if (HasPart(out, "before_bytes", peak.parts)) {
    auto& parts = *peak.parts;
    out.Fields("before_bytes", parts.before, "untold_bytes", UnlessIs(parts.untold, 0));
    out.Rows("operators", parts.operators, [&](auto& of) {
      out.Fields("name", UnlessIs(of.op, ""), "inside", UnlessIs(of.inside, ""), "blocks",
                 of.blocks, "bytes", of.bytes);
    });
    if constexpr (kReads<decltype(out)>) {
      if (parts.Sum() != peak.allocated) out.Refuse("allocated_bytes", "the sum of its parts");
    }
  }
  out.End();
}

void OneDevicesMemory(auto& out, auto& memory) {
  out.Fields("device", memory.device, "allocations", memory.allocations, "frees", memory.frees,
             "start_allocated_bytes", memory.start.allocated, "end_allocated_bytes",
             memory.end.allocated, "start_reserved_bytes", memory.start.reserved,
             "end_reserved_bytes", memory.end.reserved);
  if (HasPart(out, "peak", memory.peak)) Peak(out, *memory.peak);
  if (HasPart(out, "reserved_peak", memory.reserved_peak))
    out.Row("reserved_peak", "at_ns", memory.reserved_peak->at, "bytes",
            memory.reserved_peak->bytes);
  if (HasPart(out, "growth", memory.growth))
    out.Row("growth", "end_bytes", memory.growth->end, "most_bytes", memory.growth->most,
            "most_at_ns", memory.growth->most_at);
  auto& series = memory.series;
  if (!IsThere(out, "series", series.step.ns > 0)) return;
  out.BeginObject("series");
  out.Fields("start_ns", series.start, "step_ns", series.step);
  ListUnlessEmpty(out, "allocated_bytes", series.allocated);
  ListUnlessEmpty(out, "reserved_bytes", series.reserved);
  ListUnlessEmpty(out, "grown_bytes", series.grown);
  out.End();
}

void MemoryOverTime(auto& out, auto& memory) {
  out.BeginObject("memory");
  out.Field("damaged", UnlessIs(memory.damaged, uint64_t{0}));
  out.Objects("devices", memory.devices, [&](auto& device) { OneDevicesMemory(out, device); });
  out.End();
}

}  // namespace tacho::schema
