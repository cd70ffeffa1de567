#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse_number.h"
#include "base/string_pool.h"
#include "model/ids.h"

namespace tacho {

// A JSON text as an integer, quoted or not; nullopt if it is not an integer.
inline std::optional<int64_t> JsonInteger(std::string_view json) {
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"')
    json = json.substr(1, json.size() - 2);
  return ParseWhole<int64_t>(json);
}

// Where the value of an argument is stored if it differs from event to event.
enum class SlotHome : uint8_t {
  kInteger,      // in the stream of values, as a number
  kText,         // in the stream of values, as the StringId of its JSON text
  kCorrelation,  // in the table's correlation column
  kExternalId,   // in the table's external id column
  kGraphNode,    // in GpuTable::graph_node
};

// The arguments of many events that differ only in a few values, stored once for all of them.
//
// `text` is the JSON text of the object, byte for byte, without the values that differ. Each of
// these values has a slot, which tells its place: before byte `at` of `text`. Slots are in the
// order of the text.
struct ArgsShape {
  struct Slot {
    uint32_t at = 0;  // byte offset into `text`
    SlotHome home = SlotHome::kInteger;
  };
  struct Entry {  // one key of the object, in the order of the text
    StringId key;
    int32_t slot = -1;  // index of the slot for its value; -1: the value is constant
    StringId constant = StringId::kEmpty;  // JSON text of a constant value
  };
  std::string text = {};
  std::vector<Slot> slots = {};
  std::vector<Entry> entries = {};

  // Build a shape from front to back: append to `text` up to a value, then add the value's key with
  // one of these functions.
  void AddConstant(StringId key, StringId json) { entries.push_back({key, -1, json}); }
  // For a value that differs: its place is the current end of `text`. Returns the number of the
  // slot.
  int32_t AddSlot(StringId key, SlotHome home) {
    slots.push_back({static_cast<uint32_t>(text.size()), home});
    entries.push_back({key, static_cast<int32_t>(slots.size()) - 1});
    return entries.back().slot;
  }
  // Moves the slot whose value is stored in `column`, if there is one, to the stream of values.
  // Needed if a key occurs twice: the column is then free for the last occurrence.
  void FreeColumn(SlotHome column) {
    for (Slot& slot : slots) {
      if (slot.home == column) slot.home = SlotHome::kInteger;
    }
  }
};

// The arguments of one event.
struct ArgsRef {
  ArgsShapeId shape = ArgsShapeId::kNone;
  uint32_t values = 0;  // offset into the stream of values
};

// Whether a value is in the stream of values.
constexpr bool IsInStream(SlotHome home) {
  return home == SlotHome::kInteger || home == SlotHome::kText;
}

// Write to and read from a stream of values, in zigzag LEB128 (7 bits a byte, low bits first). A
// value takes at most kMaxVarint bytes.
inline constexpr size_t kMaxVarint = 10;
inline uint8_t* WriteVarint(uint8_t* to, int64_t value) {
  auto v = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  while (v >= 0x80) {
    *to++ = static_cast<uint8_t>(v | 0x80);
    v >>= 7;
  }
  *to++ = static_cast<uint8_t>(v);
  return to;
}
inline const uint8_t* ReadVarint(const uint8_t* from, int64_t& value) {
  uint64_t v = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = *from++;
    v |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  value = static_cast<int64_t>((v >> 1) ^ (~(v & 1) + 1));
  return from;
}

}  // namespace tacho
