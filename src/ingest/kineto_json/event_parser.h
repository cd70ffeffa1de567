#pragma once

#include <string_view>
#include <vector>

#include "ingest/kineto_json/lenient_json.h"
#include "model/event.h"

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

  // Chrome's letter, "?" for anything else.
  [[nodiscard]] char Phase() const {
    const std::string_view text = phase ? phase.text() : std::string_view();
    return text.size() == 1 && text[0] > ' ' && text[0] < 127 ? text[0] : '?';
  }
  // Flows, asynchronous ranges and objects.
  [[nodiscard]] bool MayHaveId() const {
    return std::string_view("stfbneNDO").find(Phase()) != std::string_view::npos;
  }
};

// What an event with Chrome's letter is.
EventType TypeOfPhase(char letter);

// What SGLang's merger puts before each pid of a rank, up to the space: "[TP00-DP01] " of
// "[TP00-DP01] 1234"; "" if the pid has no such part.
std::string_view RankOfPid(std::string_view pid);

// How events look here, learnt from those that were read: what a damaged one is held against.
struct EventHabits {
  std::vector<std::string_view> openings;     // from the brace to behind the first key: `{"ph"`
  std::vector<std::string_view> after_names;  // what follows a name: `", "pid":`
};

// Takes one event apart, leniently: the path that is right for anything. c.p is at the event's
// opening brace; afterwards behind its closing one (unchanged unless kOk).
//
// When an event cannot be read because its name holds unescaped quotes, the name is taken to end
// where names end here; so also when it does not end within `runaway_bytes`.
Scan ParseEvent(Cursor& c, const EventHabits& habits, size_t runaway_bytes, ParsedEvent& event);

// Whether the brace at `p` opens an event: `before` is the last character in front of it that is no
// white space, and the bytes must be one of the known openings (without any: an event's key must
// come first). kBad: it does not.
Scan OpensEvent(char before, const char* p, const char* end, bool last, const EventHabits& habits);

}  // namespace tacho::kineto
