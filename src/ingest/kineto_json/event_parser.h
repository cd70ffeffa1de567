#pragma once

#include <string_view>
#include <vector>

#include "ingest/kineto_json/lenient_json.h"

namespace tacho::kineto {

// The bytes of a field's value: between the quotes for a string.
struct Field {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool quoted = false;

  explicit operator bool() const { return begin != nullptr; }
  [[nodiscard]] std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
};

// One event taken apart; all pointers go into the bytes that were parsed. The last of equal keys
// wins.
struct ParsedEvent {
  struct Arg {
    std::string_view key;    // without quotes, as in the file
    std::string_view value;  // JSON text
  };
  const char* begin = nullptr;  // the opening brace
  const char* end = nullptr;    // behind the closing brace
  Field phase, category, name, pid, tid, start, duration, id;
  std::string_view args;  // JSON text of the args object, empty without one
  std::vector<Arg> arg_list;
  bool repaired = false;  // unescaped quotes were found and kept
};

// Takes one event apart, leniently: the path that is right for anything. c.p is at the event's
// opening brace; afterwards behind its closing one (unchanged unless kOk).
//
// `after_names` are texts that are known to follow the name in events like this one ('", "pid": '):
// when an event cannot be read because its name holds unescaped quotes, the name is taken to end
// there.
Scan ParseEvent(Cursor& c, const std::vector<std::string_view>& after_names, ParsedEvent& event);

// Whether what stands at `p`, behind an event's closing brace, can follow an event: a brace inside
// a name with unescaped quotes is no end.
inline Scan MayFollowEvent(const char* p, const char* end, bool last) {
  p = SkipSpace(p, end);
  if (p == end) return last ? Scan::kOk : Scan::kMore;
  const bool may = *p == ',' || *p == ']' || *p == '{' || *p == '}' || *p == '\0';
  return may ? Scan::kOk : Scan::kBad;
}

// Whether the brace at `p` opens an event: `before` is the last character in front of it that is no
// white space, and the first key must be one of an event's. kBad: it does not.
Scan OpensEvent(char before, const char* p, const char* end, bool last);

}  // namespace tacho::kineto
