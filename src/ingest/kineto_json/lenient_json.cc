#include "ingest/kineto_json/lenient_json.h"

#include <bit>
#include <string>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tacho::kineto {
namespace {

// Whether the bytes at `p` may follow a closing quote. kMore if the bytes end too early to tell.
Scan MayFollowString(const char* p, const Cursor& c, Place place) {
  const auto ended = [&] { return c.last ? Scan::kOk : Scan::kMore; };
  p = SkipSpace(p, c.end);
  if (p == c.end) return ended();
  switch (place) {
    case Place::kKey:
      return *p == ':' ? Scan::kOk : Scan::kBad;
    case Place::kElement:
      return *p == ',' || *p == ']' ? Scan::kOk : Scan::kBad;
    case Place::kMember:
    case Place::kDocumentMember:
      break;
  }
  if (*p == '}') {
    return place == Place::kDocumentMember ? Scan::kOk : MayFollowObject(p + 1, c.end, c.last);
  }
  if (*p != ',') return Scan::kBad;
  p = SkipSpaceAndCommas(p, c.end);
  if (p == c.end) return ended();
  return *p == '"' || *p == '}' ? Scan::kOk : Scan::kBad;
}

// Whether the quote at `p`, which has three more bytes after it, opens the first key of an event.
// If so, the string that reaches to here was never closed.
bool OpensAnEvent(const char* begin, const char* p) {
  const std::string_view key(p, 4);
  if (key != "\"ph\"" && key != "\"ts\"") return false;
  const char* before = p;
  while (before != begin && IsSpace(before[-1])) --before;
  return before != begin && before[-1] == '{';
}

Scan SkipContainer(Cursor& c) {
  std::string open;  // the closing brackets that are still to come
  bool after_colon = false;
  for (;;) {
    c.p = SkipSpace(c.p, c.end);
    if (c.p == c.end) return Scan::kMore;
    const char ch = *c.p;
    if (ch == '{' || ch == '[') {
      if (static_cast<int>(open.size()) == kDeepest) return Scan::kBad;
      open.push_back(ch == '{' ? '}' : ']');
      after_colon = false;
      ++c.p;
    } else if (ch == '}' || ch == ']') {
      if (open.back() != ch) return Scan::kBad;
      open.pop_back();
      after_colon = false;
      ++c.p;
      if (open.empty()) return Scan::kOk;
    } else if (ch == '"') {
      const Place place = open.back() == ']' ? Place::kElement
                          : after_colon      ? Place::kMember
                                             : Place::kKey;
      const Scan scan = SkipString(c, place);
      if (scan != Scan::kOk) return scan;
      after_colon = false;
    } else {
      after_colon = ch == ':';
      ++c.p;  // commas, colons, numbers and literals need no check here
    }
  }
}

}  // namespace

const char* FindQuoteOrBackslash(const char* p, const char* end) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  for (; end - p >= 16; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto hits = static_cast<unsigned>(_mm_movemask_epi8(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash))));
    if (hits != 0) return p + std::countr_zero(hits);
  }
#endif
  while (p != end && *p != '"' && *p != '\\') ++p;
  return p;
}

Scan SkipString(Cursor& c, Place place) {
  const char* const begin = c.p;
  bool lenient = false;
  for (const char* p = c.p + 1;;) {
    p = FindQuoteOrBackslash(p, c.end);
    if (p == c.end) return Scan::kMore;
    if (*p == '\\') {
      if (c.end - p < 2) return Scan::kMore;
      p += 2;
      continue;
    }
    const Scan follows = MayFollowString(p + 1, c, place);
    if (follows == Scan::kMore) return Scan::kMore;
    if (follows == Scan::kOk) {
      c.p = p + 1;
      c.repaired |= lenient;
      return Scan::kOk;
    }
    if (place == Place::kKey || p - begin > kLongestRepair) return Scan::kBad;
    if (c.end - p < 4 && !c.last) return Scan::kMore;
    if (c.end - p >= 4 && OpensAnEvent(begin, p)) return Scan::kBad;
    lenient = true;
    ++p;
  }
}

Scan SkipValue(Cursor& c, Place place) {
  if (c.p == c.end) return Scan::kMore;
  switch (*c.p) {
    case '"':
      return SkipString(c, place);
    case '{':
    case '[':
      return SkipContainer(c);
    case ',':
    case '}':
    case ']':
    case ':':
      return Scan::kBad;
    default:
      break;
  }
  while (c.p != c.end && *c.p != ',' && *c.p != '}' && *c.p != ']' && !IsSpace(*c.p)) {
    if (*c.p == '"' || *c.p == '{' || *c.p == '\0') return Scan::kBad;
    ++c.p;
  }
  return c.p == c.end && !c.last ? Scan::kMore : Scan::kOk;
}

void ForEachMember(std::string_view text,
                   const std::function<void(std::string_view, std::string_view)>& visit) {
  Cursor c{text.data(), text.data() + text.size(), true};
  c.p = SkipSpace(c.p, c.end);
  if (c.p == c.end || *c.p != '{') return;
  ++c.p;
  for (;;) {
    c.p = SkipSpaceAndCommas(c.p, c.end);
    if (c.p == c.end || *c.p != '"') return;
    const char* const key = c.p + 1;
    if (SkipString(c, Place::kKey) != Scan::kOk) return;
    const std::string_view name(key, static_cast<size_t>(c.p - 1 - key));
    c.p = SkipSpace(c.p, c.end);
    if (c.p == c.end || *c.p != ':') return;
    c.p = SkipSpace(c.p + 1, c.end);
    const char* const value = c.p;
    if (SkipValue(c, Place::kMember) != Scan::kOk) return;
    visit(name, {value, static_cast<size_t>(c.p - value)});
  }
}

void ForEachElement(std::string_view text, const std::function<void(std::string_view)>& visit) {
  Cursor c{text.data(), text.data() + text.size(), true};
  c.p = SkipSpace(c.p, c.end);
  if (c.p == c.end || *c.p != '[') return;
  ++c.p;
  for (;;) {
    c.p = SkipSpaceAndCommas(c.p, c.end);
    if (c.p == c.end || *c.p == ']') return;
    const char* const value = c.p;
    if (SkipValue(c, Place::kElement) != Scan::kOk) return;
    visit({value, static_cast<size_t>(c.p - value)});
  }
}

}  // namespace tacho::kineto
