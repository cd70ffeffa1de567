#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

namespace tacho::kineto {

// How a scan of JSON that may be damaged or incomplete ended.
enum class Scan : uint8_t {
  kOk,
  kMore,  // the bytes end inside the value
  kBad,   // the bytes cannot be read even leniently
};

// Where a string stands; this decides what may follow its closing quote.
enum class Place : uint8_t { kKey, kMember, kElement, kDocumentMember };

inline bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline const char* SkipSpace(const char* p, const char* end) {
  while (p != end && IsSpace(*p)) ++p;
  return p;
}
inline const char* SkipSpaceAndCommas(const char* p, const char* end) {
  while (p != end && (IsSpace(*p) || *p == ',')) ++p;
  return p;
}

// A cursor over bytes. `last`: no more bytes will come after `end`.
struct Cursor {
  const char* p;
  const char* end;
  bool last;
  bool repaired = false;  // a string with unescaped quotes was read
};

// Whether the bytes contain a zero byte. No producer writes one: it comes from a hole in the file.
inline bool HasHole(const char* begin, const char* end) {
  return std::memchr(begin, '\0', static_cast<size_t>(end - begin)) != nullptr;
}

// The first quote or backslash in [p, end), or `end`.
const char* FindQuoteOrBackslash(const char* p, const char* end);

// Whether the text at `p`, after a closing brace, can follow an event or its arguments. If not, the
// brace is part of a name with unescaped quotes and does not end the object.
inline Scan MayFollowObject(const char* p, const char* end, bool last) {
  p = SkipSpace(p, end);
  if (p == end) return last ? Scan::kOk : Scan::kMore;
  const bool may = *p == ',' || *p == ']' || *p == '{' || *p == '}' || *p == '\0';
  return may ? Scan::kOk : Scan::kBad;
}

// Longest string that is repaired, in bytes; names are shorter.
inline constexpr ptrdiff_t kLongestRepair = 4096;

// Moves past the string whose opening quote is at c.p. Producers before 2026 did not escape quotes:
// if the text after a quote shows that it cannot be the closing quote, it is part of the string.
// Raw line feeds and control characters are accepted.
Scan SkipString(Cursor& c, Place place);

// Moves past any value: string, number, object, array, literal, or a bare word such as nan. Values
// may be nested kDeepest deep.
inline constexpr int kDeepest = 1000;
Scan SkipValue(Cursor& c, Place place);

// These call `visit` for each member of the object in `text`, or each element of the array, with
// the value's JSON text. Keys come without quotes, as they stand in the file. Both functions stop
// without an error at the first place that cannot be read.
void ForEachMember(std::string_view text,
                   const std::function<void(std::string_view key, std::string_view value)>& visit);
void ForEachElement(std::string_view text,
                    const std::function<void(std::string_view value)>& visit);

}  // namespace tacho::kineto
