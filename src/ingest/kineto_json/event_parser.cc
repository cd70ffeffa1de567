#include "ingest/kineto_json/event_parser.h"

#include <algorithm>

#include "base/words.h"

namespace tacho::kineto {
namespace {

// Characters that may stand between a rank's name and the number of its process.
constexpr std::string_view kBehindRank = " :_-/|#";

constexpr std::string_view kEventKeys[] = {"ph",  "cat", "name", "pid", "tid", "ts",
                                           "dur", "id",  "args", "s",   "bp"};

Field FieldOf(const char* begin, const char* end) {
  if (end - begin >= 2 && *begin == '"' && end[-1] == '"') return {begin + 1, end - 1, true};
  return {begin, end, false};
}

// Moves to the value of the object's next member; `key` is set to its key, without quotes. At the
// object's end, c.p is at the closing brace and `key` stays null.
Scan NextKey(Cursor& c, std::string_view& key) {
  c.p = SkipSpaceAndCommas(c.p, c.end);
  if (c.p == c.end) return Scan::kMore;
  if (*c.p == '}') return Scan::kOk;
  if (*c.p != '"') return Scan::kBad;
  const char* const begin = c.p + 1;
  if (const Scan scan = SkipString(c, Place::kKey); scan != Scan::kOk) return scan;
  key = {begin, static_cast<size_t>(c.p - 1 - begin)};
  c.p = SkipSpace(c.p, c.end);
  if (c.p == c.end) return Scan::kMore;
  if (*c.p != ':') return Scan::kBad;
  c.p = SkipSpace(c.p + 1, c.end);
  return c.p == c.end ? Scan::kMore : Scan::kOk;
}

// Reads the members of the args object at c.p into `event`.
Scan ParseArgs(Cursor& c, ParsedEvent& event) {
  const char* const begin = c.p;
  event.arg_list.clear();
  ++c.p;
  for (;;) {
    std::string_view name;
    if (const Scan scan = NextKey(c, name); scan != Scan::kOk) return scan;
    if (name.data() == nullptr) break;
    const char* const value = c.p;
    if (*c.p == ',' || *c.p == '}') {  // `"key": ,` comes from a formatter that had no value
      event.arg_list.push_back({name, {value, value}});
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

// Parses the event once. If `name_end` is given, the name ends there, whatever it contains.
Scan TryParse(Cursor& c, const char* name_end, ParsedEvent& event) {
  event = ParsedEvent{};
  event.begin = c.p;
  ++c.p;
  for (;;) {
    std::string_view key;
    if (const Scan scan = NextKey(c, key); scan != Scan::kOk) return scan;
    if (key.data() == nullptr) break;
    if (*c.p == ',' || *c.p == '}') continue;  // the member has no value
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
    if (std::string_view(value, static_cast<size_t>(c.p - value)) == "null")
      continue;  // null counts as a missing field
    if (Field* const field = FieldByKey(event, key)) *field = FieldOf(value, c.p);
  }
  ++c.p;
  if (const Scan end = MayFollowObject(c.p, c.end, c.last); end != Scan::kOk) return end;
  // If the start time is missing, a repaired string was read too far and swallowed it.
  if (c.repaired && !event.start) return Scan::kBad;
  event.end = c.p;
  event.repaired = c.repaired;
  return Scan::kOk;
}

// Finds the start of the next event, or the end of the bytes. kMore: more bytes are needed to tell.
Scan FindNextEvent(const Cursor& c, const EventHabits& habits, const char*& next) {
  char before = *c.p;
  for (next = c.p + 1; next != c.end; ++next) {
    if (*next == '{') {
      const Scan scan = OpensEvent(before, next, c.end, c.last, habits);
      if (scan != Scan::kBad) return scan;
    }
    if (!IsSpace(*next)) before = *next;
  }
  return c.last ? Scan::kBad : Scan::kMore;
}

// The first byte of the name's value in the event at `begin`, or nullptr.
const char* FindNameValue(const char* begin, const char* end) {
  static constexpr std::string_view kKey = "\"name\"";
  const char* const key = std::search(begin, std::min(end, begin + 4096), kKey.begin(), kKey.end());
  if (key == std::min(end, begin + 4096)) return nullptr;
  const char* p = SkipSpace(key + kKey.size(), end);
  if (p == end || *p != ':') return nullptr;
  p = SkipSpace(p + 1, end);
  return p != end && *p == '"' ? p + 1 : nullptr;
}

}  // namespace

EventType TypeOfPhase(char letter) {
  switch (letter) {
    case 'X':
      return EventType::kSlice;
    case 'B':
      return EventType::kSliceBegin;
    case 'E':
      return EventType::kSliceEnd;
    case 'C':
      return EventType::kCounter;
    case 'b':
      return EventType::kRangeBegin;
    case 'e':
      return EventType::kRangeEnd;
    case 's':
      return EventType::kFlowStart;
    case 't':
      return EventType::kFlowStep;
    case 'f':
      return EventType::kFlowEnd;
    case 'M':
      return EventType::kMetadata;
    default:
      return EventType::kInstant;
  }
}

std::string_view RankOfPid(std::string_view pid) {
  const size_t bracket = pid.find("] ");
  if (pid.starts_with('[') && bracket != std::string_view::npos) return pid.substr(0, bracket + 2);
  if (pid.empty() || !IsLetter(pid.front())) return {};  // true for nearly all pids
  const auto cut_at = [&](size_t end) {
    const bool is_cut =
        end + 1 < pid.size() && kBehindRank.find(pid[end]) != std::string_view::npos;
    return is_cut ? pid.substr(0, end + 1) : std::string_view();
  };
  if (const size_t file = pid.rfind(".json"); file != std::string_view::npos) {
    const size_t end = file + 5;
    return cut_at(pid.substr(end).starts_with(".gz") ? end + 3 : end);
  }
  size_t end = pid.find("rank");
  if (end == std::string_view::npos) return {};
  end += 4;
  if (end < pid.size() && kBehindRank.find(pid[end]) != std::string_view::npos) ++end;
  const size_t digits = end;
  while (end < pid.size() && IsDigit(pid[end])) ++end;
  return end > digits ? cut_at(end) : std::string_view();
}

std::string_view DeviceOfPid(std::string_view pid) {
  constexpr std::string_view kBefore = "GPU ", kAfter = " Counters";
  if (!pid.starts_with(kBefore) || !pid.ends_with(kAfter)) return {};
  if (pid.size() <= kBefore.size() + kAfter.size()) return {};
  return pid.substr(kBefore.size(), pid.size() - kBefore.size() - kAfter.size());
}

Scan ParseEvent(Cursor& c, const EventHabits& habits, size_t runaway_bytes, ParsedEvent& event) {
  Cursor attempt = c;
  const Scan scan = TryParse(attempt, nullptr, event);
  if (scan == Scan::kOk) {
    c.p = attempt.p;
    return scan;
  }
  // No real event is that long, so one of its strings lacks its closing quote.
  const bool runaway = scan == Scan::kMore && static_cast<size_t>(c.end - c.p) > runaway_bytes;
  if (scan == Scan::kMore && !c.last && !runaway) return scan;

  const char* limit = nullptr;
  const Scan next = FindNextEvent(c, habits, limit);
  if (next == Scan::kMore && !runaway) return next;  // wait until the whole event is there
  const char* const name = FindNameValue(c.p, limit);
  for (const std::string_view after : habits.after_names) {
    if (name == nullptr) break;
    const char* const at = std::search(name, limit, after.begin(), after.end());
    if (at == limit) continue;
    attempt = c;
    const Scan repaired = TryParse(attempt, at, event);
    if (repaired == Scan::kMore && !c.last && !runaway) return repaired;
    if (repaired != Scan::kOk) continue;
    c.p = attempt.p;
    return repaired;
  }
  return scan;
}

Scan OpensEvent(char before, const char* p, const char* end, bool last, const EventHabits& habits) {
  if (before != ',' && before != '[' && before != '}') return Scan::kBad;
  const Scan undecided = last ? Scan::kBad : Scan::kMore;
  const std::string_view bytes(p, static_cast<size_t>(end - p));
  if (!habits.openings.empty()) {
    for (const std::string_view opening : habits.openings) {
      if (bytes.starts_with(opening)) return Scan::kOk;
      if (opening.starts_with(bytes)) return undecided;
    }
    return Scan::kBad;
  }
  p = SkipSpace(p + 1, end);
  if (p == end) return undecided;
  if (*p != '"') return Scan::kBad;
  ++p;
  for (const std::string_view key : kEventKeys) {
    const std::string_view have(p, std::min(static_cast<size_t>(end - p), key.size() + 1));
    if (have.size() <= key.size()) {
      if (key.starts_with(have)) return undecided;
      continue;
    }
    if (have.starts_with(key) && have.back() == '"') return Scan::kOk;
  }
  return Scan::kBad;
}

}  // namespace tacho::kineto
