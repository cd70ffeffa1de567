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

// A parsed event. All pointers point into the bytes that were parsed. The last of equal keys wins.
struct ParsedEvent {
  struct Arg {
    std::string_view key;    // without quotes, as in the file
    std::string_view value;  // JSON text
  };
  const char* begin = nullptr;  // the opening brace
  const char* end = nullptr;    // after the closing brace
  Field phase, category, name, pid, tid, start, duration, id;
  std::string_view args;  // JSON text of the args object, empty without one
  std::vector<Arg> arg_list;
  bool repaired = false;  // unescaped quotes were found and kept

  // The letter of the event's phase in Chrome's format ("X"); "?" if it is not one printable
  // letter.
  [[nodiscard]] char Phase() const {
    const std::string_view text = phase ? phase.text() : std::string_view();
    return text.size() == 1 && text[0] > ' ' && text[0] < 127 ? text[0] : '?';
  }
  // Whether it is a flow, an asynchronous range or an object.
  [[nodiscard]] bool MayHaveId() const {
    return std::string_view("stfbneNDO").find(Phase()) != std::string_view::npos;
  }
};

// The type of an event with this letter of Chrome's format.
EventType TypeOfPhase(char letter);
// Whether an event of this type is lost if it has no time, because tables place it by its time.
constexpr bool NeedsStart(EventType type) {
  return type == EventType::kSlice || type == EventType::kSliceBegin ||
         type == EventType::kSliceEnd || type == EventType::kRangeBegin ||
         type == EventType::kRangeEnd || type == EventType::kCounter;
}

// The prefix, with its separator, that programs that merge traces put before each pid of a rank:
// "[TP00-DP01] " in SGLang's "[TP00-DP01] 1234", a file or rank in "rank0.json:1234". "" if the pid
// has no such prefix.
std::string_view RankOfPid(std::string_view pid);
// "0" for "GPU 0 Counters", Kineto's pid for the hardware counters of a device; "" for other pids.
std::string_view DeviceOfPid(std::string_view pid);

// How the events of a file look. The parser uses it to repair damaged events.
struct EventHabits {
  std::vector<std::string_view> openings;     // the brace and the first key: `{"ph"`
  std::vector<std::string_view> after_names;  // what follows a name: `", "pid":`
};

// Parses one event leniently; correct for any bytes. c.p is at the event's opening brace. If the
// result is kOk, c.p moves past the closing brace; else it stays.
//
// If an event is unreadable because its name holds unescaped quotes, or if it does not end within
// `runaway_bytes`, its name ends where the first text of EventHabits::after_names begins.
Scan ParseEvent(Cursor& c, const EventHabits& habits, size_t runaway_bytes, ParsedEvent& event);

// Whether the brace at `p` opens an event (else kBad). `before` is the last character before it
// that is no white space. The bytes must be one of the known openings; if no opening is known, the
// first key must be a key of an event.
Scan OpensEvent(char before, const char* p, const char* end, bool last, const EventHabits& habits);

}  // namespace tacho::kineto
