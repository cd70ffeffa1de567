#include "io/perfetto_magic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tacho {
namespace {

constexpr char kPacketTag = 0x0a;  // the tag of Trace.packet: field 1, length-delimited

enum WireType { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

// Whether a field is one that nearly every TracePacket has: timestamp (8), trusted_uid (3),
// trusted_packet_sequence_id (10), synchronization_marker (36), trace_config (33) or trace_uuid
// (89). Python's writers, such as torch's, begin with a packet that has only a track_descriptor
// (60).
bool IsTypical(uint64_t field, uint64_t wire) {
  if (wire == kVarint) return field == 3 || field == 8 || field == 10;
  return wire == kLength && (field == 33 || field == 36 || field == 60 || field == 89);
}

// Whether the fields of `packet` are well formed and one of them is typical. `cut`: the packet
// continues after the given bytes.
bool IsPacket(std::string_view packet, bool cut) {
  bool typical = false;
  while (!packet.empty()) {
    const std::optional<uint64_t> tag = TakeVarint(packet);
    if (!tag) return cut && typical;
    const uint64_t field = *tag >> 3;
    const uint64_t wire = *tag & 7;
    if (field == 0 || field > 10000) return false;
    typical = typical || IsTypical(field, wire);
    uint64_t size = 0;
    if (wire == kVarint) {
      if (!TakeVarint(packet)) return cut && typical;
    } else if (wire == kFixed64) {
      size = 8;
    } else if (wire == kFixed32) {
      size = 4;
    } else if (wire == kLength) {
      const std::optional<uint64_t> length = TakeVarint(packet);
      if (!length) return cut && typical;
      size = *length;
    } else {
      return false;
    }
    if (size > packet.size()) return cut && typical;
    packet.remove_prefix(static_cast<size_t>(size));
  }
  return typical;
}

}  // namespace

bool LooksLikePerfetto(std::string_view start) {
  if (start.empty() || start[0] != kPacketTag) return false;
  start.remove_prefix(1);
  const std::optional<uint64_t> size = TakeVarint(start);
  if (!size || *size == 0) return false;
  const bool cut = *size > start.size();
  if (!cut && *size < start.size() && start[static_cast<size_t>(*size)] != kPacketTag) return false;
  return IsPacket(start.substr(0, static_cast<size_t>(std::min<uint64_t>(*size, start.size()))),
                  cut);
}

}  // namespace tacho
