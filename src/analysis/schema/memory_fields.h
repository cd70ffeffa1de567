#pragma once

#include "analysis/device/memory.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) for memory over time. conditions.h explains `out`.
namespace tacho::schema {

// Whether an optional member is present. When reading, creates it if it is.
bool HasPart(auto& out, std::string_view key, auto& part) {
  if (!IsThere(out, key, part.has_value())) return false;
  Ensure(out, part);
  return true;
}

void ListUnlessEmpty(auto& out, const Key& key, auto& items) {
  if (IsThere(out, key.name, !items.empty())) out.List(key, items);
}

void Peak(auto& out, auto& peak) {
  out.BeginObject(Key{"peak",
                      "the first moment of the most allocated bytes; absent where the totals of "
                      "the allocator were not recorded"});
  out.Field(Key{"at_ns", "time of the peak"}, peak.at);
  out.Field(Key{"allocated_bytes", "allocated bytes at the peak"}, peak.allocated);
  out.Field(
      Key{"reserved_bytes", "reserved bytes at that moment; absent where nothing is reserved"},
      peak.reserved);
  if (HasPart(out, "before_bytes", peak.parts)) {
    auto& parts = *peak.parts;
    out.Field(Key{"before_bytes",
                  "part of allocated_bytes that was allocated before the recording; this and the "
                  "next two are absent where blocks have no addresses"},
              parts.before);
    out.Field(Key{"untold_bytes",
                  "part of allocated_bytes that no recorded block accounts for, less what was "
                  "released without a record; absent where 0"},
              UnlessIs(parts.untold, 0));
    out.Rows(Key{"operators",
                 "part of allocated_bytes in blocks of the recording that were alive, by operator, "
                 "most bytes first; before_bytes + untold_bytes + all of these = allocated_bytes"},
             parts.operators, [&](auto& of) {
               out.Field(Key{"name",
                             "name of the innermost operator that was open on its thread; absent "
                             "where none was"},
                         UnlessIs(of.op, ""));
               out.Field(Key{"inside",
                             "name of the outermost operator around it; absent where it is itself "
                             "the outermost"},
                         UnlessIs(of.inside, ""));
               out.Field(Key{"blocks", "number of the blocks"}, of.blocks);
               out.Field(Key{"bytes", "sum of their sizes"}, of.bytes);
             });
    if constexpr (kReads<decltype(out)>) {
      if (parts.Sum() != peak.allocated) out.Refuse("allocated_bytes", "the sum of its parts");
    }
  }
  out.End();
}

void OneDevicesMemory(auto& out, auto& memory) {
  out.Field(Key{"device", "type and number of the device: `cuda 0`, `hip 0`, `cpu`"},
            memory.device);
  out.Field(Key{"allocations", "number of allocations"}, memory.allocations);
  out.Field(Key{"frees", "number of releases"}, memory.frees);
  out.Field(Key{"start_allocated_bytes", "allocated bytes before the first event"},
            memory.start.allocated);
  out.Field(Key{"end_allocated_bytes", "allocated bytes after the last event"},
            memory.end.allocated);
  out.Field(Key{"start_reserved_bytes", "reserved bytes after the first event"},
            memory.start.reserved);
  out.Field(Key{"end_reserved_bytes", "reserved bytes after the last event"}, memory.end.reserved);
  if (HasPart(out, "peak", memory.peak)) Peak(out, *memory.peak);
  if (HasPart(out, "reserved_peak", memory.reserved_peak)) {
    out.BeginRow(Key{"reserved_peak",
                     "the first moment of the most reserved bytes; absent where nothing is "
                     "reserved, as on CPUs"});
    out.Field(Key{"at_ns", "time of that moment"}, memory.reserved_peak->at);
    out.Field(Key{"bytes", "reserved bytes"}, memory.reserved_peak->bytes);
    out.End();
  }
  if (HasPart(out, "growth", memory.growth)) {
    out.BeginRow(Key{"growth",
                     "growth since the start, what was allocated less what was released; only "
                     "where the totals of the allocator were not recorded (old torch)"});
    out.Field(Key{"end_bytes", "growth at the end"}, memory.growth->end);
    out.Field(Key{"most_bytes", "the most growth, at least 0"}, memory.growth->most);
    out.Field(Key{"most_at_ns", "time of the first moment of the most growth"},
              memory.growth->most_at);
    out.End();
  }
  auto& series = memory.series;
  if (!IsThere(out, "series", series.step.ns > 0)) return;
  out.BeginObject(
      Key{"series", "levels over time: the most in each of at most 500 parts of equal length"});
  out.Field(Key{"start_ns", "start of the first part"}, series.start);
  out.Field(Key{"step_ns", "length of each part"}, series.step);
  ListUnlessEmpty(out, Key{"allocated_bytes", "allocated bytes by part"}, series.allocated);
  ListUnlessEmpty(out,
                  Key{"reserved_bytes", "reserved bytes by part; absent where nothing is reserved"},
                  series.reserved);
  ListUnlessEmpty(out, Key{"grown_bytes", "growth by part, where there is `growth`"}, series.grown);
  out.End();
}

void MemoryOverTime(auto& out, auto& memory) {
  out.BeginObject(Key{
      "memory", "memory over time by device; absent where it was not recorded (`profile_memory`)"});
  out.Field(Key{"damaged",
                "events without a device or with an impossible size; if there is one, levels of "
                "memory are absent"},
            UnlessIs(memory.damaged, uint64_t{0}));
  out.Objects(Key{"devices", "devices, by type and number, CPUs last"}, memory.devices,
              [&](auto& device) { OneDevicesMemory(out, device); });
  out.End();
}

}  // namespace tacho::schema
