#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "ingest/kineto_json/number.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tacho::kineto {

// What a slot holds. A slot is a place where events of one shape differ.
enum class SlotKind : uint8_t {
  kStart,     // the event's ts
  kDuration,  // the event's dur
  kId,        // id of a flow or a range
  // pid and tid have slots only in metadata events that are not GPU work; elsewhere the shape fixes
  // them.
  kPid,
  kTid,
  kMetadata,    // raw JSON text of args.name or args.labels in metadata events
  kArgInteger,  // an argument whose value is a canonical integer
  kArgText,     // JSON text of any other argument that varies
  kEnd,         // no slot: the part of the shape ends here
};
inline uint32_t SlotBit(SlotKind kind) { return uint32_t{1} << static_cast<unsigned>(kind); }

// The slot for an argument that varies, chosen by its JSON text. kEnd for null, true and false,
// which become part of the shape.
inline SlotKind SlotOfVaryingArg(std::string_view text) {
  if (text == "null" || text == "true" || text == "false") return SlotKind::kEnd;
  return CanonicalInteger(text) ? SlotKind::kArgInteger : SlotKind::kArgText;
}

// Turns an id that is not an integer into a number: equal for equal texts, and far from real ids.
inline int64_t TextId(std::string_view text) {
  return static_cast<int64_t>(HashBytes(text) >> 2 | uint64_t{1} << 62);
}

// In nanoseconds, about a day. No profiler runs that long: longer durations are damage and would
// overflow sums.
inline constexpr int64_t kLongestDuration = 100'000'000'000'000;

// Fixed bytes of a shape and the slot after them.
struct Segment {
  uint32_t begin = 0;  // index into TemplatePart::bytes
  uint32_t size = 0;
  SlotKind slot = SlotKind::kEnd;
};

// The head or the tail of a shape (the part before or after the name): fixed bytes and slots
// alternate. The last segment has the slot kEnd.
struct TemplatePart {
  std::string bytes;  // the bytes of all segments, then 16 bytes of padding
  std::vector<Segment> segments;
};

// Whether the `size` bytes at `p` and at `q` are equal. Reads up to 15 bytes beyond both.
inline bool SameBytes(const char* p, const char* q, size_t size) {
#ifdef __SSE2__
  const auto same = [&](size_t i) {
    return _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i)),
                          _mm_loadu_si128(reinterpret_cast<const __m128i*>(q + i)));
  };
  if (size < 16) {
    const auto differ = ~static_cast<unsigned>(_mm_movemask_epi8(same(0)));
    return (differ & ((1u << size) - 1)) == 0;
  }
  // The bytes are nearly always equal, so this loop does not stop at the first difference: a single
  // branch at the end is faster. The last 16 bytes may overlap the 16 before them.
  __m128i all = same(size - 16);
  for (size_t i = 0; i + 16 < size; i += 16) all = _mm_and_si128(all, same(i));
  return _mm_movemask_epi8(all) == 0xffff;
#else
  return std::memcmp(p, q, size) == 0;
#endif
}

}  // namespace tacho::kineto
