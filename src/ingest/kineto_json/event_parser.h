#pragma once

#include <string_view>
#include <vector>

#include "ingest/kineto_json/lenient_json.h"
#include "model/event.h"

namespace tacho::kineto {

// The bytes of a field's value; for a string, those between the quotes.
struct Field {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool quoted = false;

  explicit operator bool() const { return begin != nullptr; }
  [[nodiscard]] std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
};

// A parsed event. All pointers point into the parsed bytes. If a key is repeated, the last one
// wins.
struct ParsedEvent {
  struct Arg {
    std::string_view key;    // without quotes, as in the file
    std::string_view value;  // JSON text
  };
  const char* begin = nullptr;  // the opening brace
  const char* end = nullptr;    // after the closing brace
  Field phase, category, name, pid, tid, start, duration, id;
  std::string_view args;  // JSON text of the args object; empty if there is none
  std::vector<Arg> arg_list;
  bool repaired = false;  // unescaped quotes were found and kept as text

  // The letter of the event's phase in Chrome's format ("X"); "?" if the phase is not one printable
  // letter.
  [[nodiscard]] char Phase() const {
    const std::string_view text = phase ? phase.text() : std::string_view();
    return text.size() == 1 && text[0] > ' ' && text[0] < 127 ? text[0] : '?';
  }
  // Whether the event is a flow, an asynchronous range or an object.
  [[nodiscard]] bool MayHaveId() const {
    return std::string_view("stfbneNDO").find(Phase()) != std::string_view::npos;
  }
};

// The type of an event whose phase in Chrome's format is `letter`.
EventType TypeOfPhase(char letter);
// Whether an event of this type is lost without a time, because tables place it by its time.
constexpr bool NeedsStart(EventType type) {
  return type == EventType::kSlice || type == EventType::kSliceBegin ||
         type == EventType::kSliceEnd || type == EventType::kRangeBegin ||
         type == EventType::kRangeEnd || type == EventType::kCounter;
}

// The prefix that programs which merge traces put before each pid of a rank, with its separator:
// "[TP00-DP01] " in SGLang's "[TP00-DP01] 1234"; a file or rank in "rank0.json:1234". "" if the pid
// has no such prefix.
std::string_view RankOfPid(std::string_view pid);
// Kineto gives the hardware counters of a device the pid "GPU 0 Counters". Returns the device in
// such a pid ("0"), and "" for other pids.
std::string_view DeviceOfPid(std::string_view pid);

// What the events of a file look like. The parser uses this to repair damaged events.
struct EventHabits {
  std::vector<std::string_view> openings;  // how events begin, the brace and the first key: `{"ph"`
  std::vector<std::string_view> after_names;  // what follows the name: `", "pid":`
};

// Parses one event leniently; any bytes are safe. c.p must be at the event's opening brace. It
// moves past the closing brace if the result is kOk, else it stays.
//
// A name may hold unescaped quotes. If they make the event unreadable, or if the event does not end
// within `runaway_bytes`, the name is taken to end where the first text of EventHabits::after_names
// is found.
Scan ParseEvent(Cursor& c, const EventHabits& habits, size_t runaway_bytes, ParsedEvent& event);

// Returns kOk if the brace at `p` opens an event, kBad if not, kMore if the bytes end too early to
// tell. `before`: the last character before the brace that is not white space. The bytes at `p`
// must be one of the known openings; if none is known, the first key must be a key that events
// have.
Scan OpensEvent(char before, const char* p, const char* end, bool last, const EventHabits& habits);

}  // namespace tacho::kineto
