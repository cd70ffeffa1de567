#include "ingest/kineto_json/event_parser.h"

#include <algorithm>
#include <cstring>

namespace tacho::kineto {
namespace {

Field FieldOf(const char* begin, const char* end) {
  if (end - begin >= 2 && *begin == '"' && end[-1] == '"') return {begin + 1, end - 1, true};
  return {begin, end, false};
}

// Reads the members of the args object at c.p into `event`.
Scan ParseArgs(Cursor& c, ParsedEvent& event) {
  const char* const begin = c.p;
  event.arg_list.clear();
  ++c.p;
  for (;;) {
    c.p = SkipSpaceAndCommas(c.p, c.end);
    if (c.p == c.end) return Scan::kMore;
    if (*c.p == '}') break;
    if (*c.p != '"') return Scan::kBad;
    const char* const key = c.p + 1;
    if (const Scan scan = SkipString(c, Place::kKey); scan != Scan::kOk) return scan;
    const std::string_view name(key, static_cast<size_t>(c.p - 1 - key));
    c.p = SkipSpace(c.p, c.end);
    if (c.p == c.end) return Scan::kMore;
    if (*c.p != ':') return Scan::kBad;
    c.p = SkipSpace(c.p + 1, c.end);
    if (c.p == c.end) return Scan::kMore;
    const char* const value = c.p;
    if (*c.p == ',' || *c.p == '}') {  // `"key": ,` from a formatter that had no value
      event.arg_list.push_back({name, {value, 0}});
      continue;
    }
    if (const Scan scan = SkipValue(c, Place::kMember); scan != Scan::kOk) return scan;
    event.arg_list.push_back({name, {value, static_cast<size_t>(c.p - value)}});
  }
  ++c.p;
  event.args = {begin, static_cast<size_t>(c.p - begin)};
  return Scan::kOk;
}

Field* FieldByKey(ParsedEvent& event, std::string_view key) {
  if (key == "ph") return &event.phase;
  if (key == "cat") return &event.category;
  if (key == "name") return &event.name;
  if (key == "pid") return &event.pid;
  if (key == "tid") return &event.tid;
  if (key == "ts") return &event.start;
  if (key == "dur") return &event.duration;
  if (key == "id") return &event.id;
  return nullptr;
}

// One try; with `name_end` the name's string is taken to end there, whatever it holds.
Scan TryParse(Cursor& c, const char* name_end, ParsedEvent& event) {
  event = ParsedEvent{};
  event.begin = c.p;
  ++c.p;
  for (;;) {
    c.p = SkipSpaceAndCommas(c.p, c.end);
    if (c.p == c.end) return Scan::kMore;
    if (*c.p == '}') break;
    if (*c.p != '"') return Scan::kBad;
    const char* const key_begin = c.p + 1;
    if (const Scan scan = SkipString(c, Place::kKey); scan != Scan::kOk) return scan;
    const std::string_view key(key_begin, static_cast<size_t>(c.p - 1 - key_begin));
    c.p = SkipSpace(c.p, c.end);
    if (c.p == c.end) return Scan::kMore;
    if (*c.p != ':') return Scan::kBad;
    c.p = SkipSpace(c.p + 1, c.end);
    if (c.p == c.end) return Scan::kMore;
    if (*c.p == ',' || *c.p == '}') continue;  // no value at all
    const char* const value = c.p;
    if (*value == '{' && key == "args") {
      if (const Scan scan = ParseArgs(c, event); scan != Scan::kOk) return scan;
      continue;
    }
    if (name_end != nullptr && key == "name" && *value == '"' && value < name_end) {
      event.name = {value + 1, name_end, true};
      c.p = name_end + 1;
      c.repaired = true;
      continue;
    }
    if (const Scan scan = SkipValue(c, Place::kMember); scan != Scan::kOk) return scan;
    if (Field* const field = FieldByKey(event, key)) *field = FieldOf(value, c.p);
  }
  ++c.p;
  // A brace inside a name with unescaped quotes is not the event's end: only a comma, a bracket, padding
  // or another event can follow that.
  const char* const next = SkipSpace(c.p, c.end);
  if (next == c.end && !c.last) return Scan::kMore;
  if (next != c.end && *next != ',' && *next != ']' && *next != '{' && *next != '}' && *next != '\0') {
    return Scan::kBad;
  }
  // A string that swallowed the time swallowed more than its own quotes.
  if (c.repaired && !event.start) return Scan::kBad;
  event.end = c.p;
  event.repaired = c.repaired;
  return Scan::kOk;
}

// Where the name's value starts (behind its quote) in the event at `begin`, or nullptr.
const char* FindNameValue(const char* begin, const char* end) {
  static constexpr std::string_view kKey = "\"name\"";
  const char* const key = std::search(begin, std::min(end, begin + 4096), kKey.begin(), kKey.end());
  if (key == std::min(end, begin + 4096)) return nullptr;
  const char* p = SkipSpace(key + kKey.size(), end);
  if (p == end || *p != ':') return nullptr;
  p = SkipSpace(p + 1, end);
  return p != end && *p == '"' ? p + 1 : nullptr;
}

constexpr std::string_view kEventKeys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args", "s", "bp"};

}  // namespace

Scan ParseEvent(Cursor& c, const std::vector<std::string_view>& after_names, ParsedEvent& event) {
  Cursor attempt = c;
  Scan scan = TryParse(attempt, nullptr, event);
  // A real name is far below this; a string that swallowed the rest of the file is not.
  const bool runaway = scan == Scan::kMore && c.end - c.p > (1 << 20);
  if (scan == Scan::kBad || (scan == Scan::kMore && c.last) || runaway) {
    const NextEvent next = FindNextEvent(c.p + 1, c.end, true);
    if (next.scan != Scan::kOk && !c.last && !runaway) return Scan::kMore;  // see the whole event first
    const char* const limit = next.scan == Scan::kOk ? next.p : c.end;
    const char* const name = FindNameValue(c.p, limit);
    for (const std::string_view after : after_names) {
      if (name == nullptr) break;
      const char* const at = std::search(name, limit, after.begin(), after.end());
      if (at == limit) continue;
      attempt = c;
      if (TryParse(attempt, at, event) == Scan::kOk) {
        c.p = attempt.p;
        return Scan::kOk;
      }
    }
    return scan;
  }
  if (scan == Scan::kOk) c.p = attempt.p;
  return scan;
}

NextEvent FindNextEvent(const char* p, const char* end, bool last) {
  for (const char* at = p;; ++at) {
    at = static_cast<const char*>(std::memchr(at, '{', static_cast<size_t>(end - at)));
    if (at == nullptr) return {last ? Scan::kBad : Scan::kMore, end};
    const char* before = at;
    while (before != p && IsSpace(before[-1])) --before;
    if (before != p && before[-1] != ',' && before[-1] != '[' && before[-1] != '}') continue;
    const char* key = SkipSpace(at + 1, end);
    if (end - key < 8 && !last) return {Scan::kMore, at};
    if (key == end || *key != '"') continue;
    ++key;
    for (const std::string_view name : kEventKeys) {
      if (static_cast<size_t>(end - key) > name.size() && std::string_view(key, name.size()) == name &&
          key[name.size()] == '"') {
        const char* const colon = SkipSpace(key + name.size() + 1, end);
        if (colon == end && !last) return {Scan::kMore, at};
        if (colon != end && *colon == ':') return {Scan::kOk, at};
      }
    }
    if (at + 1 == end) return {last ? Scan::kBad : Scan::kMore, end};
  }
}

}  // namespace tacho::kineto
