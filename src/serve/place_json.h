#pragma once

#include <string_view>

#include "text/json_writer.h"
#include "view/palette.h"
#include "view/place.h"

namespace tacho {

inline std::string_view PaletteKey(Palette palette) {
  constexpr std::string_view kKeys[] = {"work", "phases", "idle", "exposure", "host", "blocks"};
  return kKeys[static_cast<size_t>(palette)];
}

// A name as lists on the page show it: its first 4 kB.
inline std::string_view BoundedName(std::string_view name) { return name.substr(0, 4096); }

// Writes the members of what API.md calls `at` into the open JSON object.
inline void WriteAtFields(JsonWriter& json, const PlacedSlice& slice) {
  json.Fields("rank", slice.at.rank, "row", slice.at.row, "lane", slice.at.lane, "place",
              slice.at.place, "from_ns", slice.when.start, "to_ns", slice.when.end);
}
inline void WriteAt(JsonWriter& json, std::string_view key, const PlacedSlice& slice) {
  json.BeginRow(key);
  WriteAtFields(json, slice);
  json.End();
}
// Writes the members `name` and `at`; the caller may add more.
inline void WriteNamedAt(JsonWriter& json, const PlacedSlice& slice) {
  json.Field("name", BoundedName(slice.name));
  WriteAt(json, "at", slice);
}

}  // namespace tacho
