#include "ingest/kineto_json/kineto_reader.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "ingest/kineto_json/event_decoder.h"
#include "ingest/kineto_json/header_fields.h"
#include "ingest/kineto_json/window.h"
#include "io/content_kind.h"
#include "io/trace_json.h"

namespace tacho {
namespace kineto {
namespace {

// Whether a bracket begins or ends the events can depend on the text after it. Until that text
// comes, the blanks before it are kept in memory. After this many bytes the reader decides without
// that text: no producer writes so many blanks.
constexpr ptrdiff_t kMostBlanks = 1 << 20;  // bytes
// Top-level keys that producers write after the events. In damaged text, a bracket ends the array
// only if one of these follows.
constexpr std::string_view kTrailerKeys[] = {"traceName",
                                             "trace_id",
                                             "record_shapes",
                                             "with_stack",
                                             "with_flops",
                                             "with_modules",
                                             "profile_memory",
                                             "vllm_version",
                                             "vllm_version_tuple",
                                             "host_name",
                                             "INFO",
                                             "WARNING",
                                             "ERROR",
                                             "cupti_version",
                                             "cuda_runtime_version",
                                             "cuda_driver_version",
                                             "hip_runtime_version",
                                             "hip_driver_version",
                                             "displayTimeUnit",
                                             "baseTimeNanoseconds",
                                             "schemaVersion",
                                             "deviceProperties",
                                             "distributedInfo",
                                             "metadata",
                                             "otherData",
                                             "systemTraceEvents",
                                             "stackFrames",
                                             "samples"};

// Reads one document from front to back; each function leaves the cursor after what it took.
class Document {
 public:
  Document(BlockStream& stream, EventSink& sink, const KinetoReadOptions& options)
      : stream_(stream),
        window_(stream),
        c_(window_.cursor()),
        decoder_(sink, options),
        basics_(sink.basics()),
        header_(basics_.header),
        notes_(basics_.notes),
        options_(options) {}

  Result<KinetoReadResult> Read();

 private:
  // Moves to the next byte that is not white space (nor, with `commas`, a comma). False at the
  // document's end.
  bool ToText(bool commas);
  std::string_view Start();
  bool IsLog();
  bool IsListOfOtherThings();
  [[nodiscard]] Result<void> CheckKeys() const;
  void ReadObject();
  bool ReadMember();  // false: the rest of the document cannot be read
  bool ReadEvents(bool list_form);
  bool SkipDamage(NoteId reason);
  static Scan EndsArray(const Cursor& c, bool strict);
  static Scan BeginsTrace(const Cursor& c);
  bool SkipPadding();
  void ReadBehindEnd();
  void NoteDamage(NoteId reason);
  std::string Where() const { return "byte " + std::to_string(window_.offset()); }

  BlockStream& stream_;
  Window window_;
  Cursor& c_;
  EventDecoder decoder_;
  TraceBasics& basics_;
  TraceHeader& header_;
  Notes& notes_;
  const KinetoReadOptions& options_;
  bool has_events_ = false;  // the document has the key "traceEvents"
  std::optional<uint64_t> first_damage_;
  bool has_other_trace_ = false;
};

Result<KinetoReadResult> Document::Read() {
  window_.More();
  while (c_.end - c_.p < 3 && window_.More()) {
  }
  if (c_.end - c_.p >= 3 && std::string_view(c_.p, 3) == "\xef\xbb\xbf") c_.p += 3;
  if (!ToText(false)) {
    if (window_.end_offset() > 0)
      return Fail(ErrorKind::kUnreadable, "there is nothing but white space");
    return Fail(
        ErrorKind::kUnreadable,
        std::string(stream_.stored_bytes() > 0 ? "unpacks to nothing" : "the file is empty") +
            ": its writer was stopped, or has not begun");
  }
  if (*c_.p == '[') {
    if (IsLog()) {
      return Fail(ErrorKind::kUnreadable,
                  "is a log, not a trace: tacho doctor reads the logs of engines");
    }
    if (IsListOfOtherThings()) {
      return Fail(ErrorKind::kUnreadable,
                  "is JSON, but not a trace: a list that does not begin with an event (\"ph\"); "
                  "a memory timeline of torch.profiler is such a list");
    }
    ++c_.p;
    if (ReadEvents(true)) ReadBehindEnd();
  } else if (*c_.p == '{') {
    ++c_.p;
    ReadObject();
    if (const auto good = CheckKeys(); !good) return tl::unexpected<Error>(good.error());
  } else if (*c_.p == '\0') {
    return Fail(ErrorKind::kUnreadable,
                "begins with zeros, as after a crash or in a copy with a hole: copy it again");
  } else if (*c_.p == '<') {
    return Fail(
        ErrorKind::kUnreadable,
        "is HTML or XML, not a trace; for a report of tacho, name the traces that it shows");
  } else {
    return Fail(ErrorKind::kUnreadable,
                "byte " + std::to_string(window_.offset()) +
                    ": expected '{' or '[', the start of a trace in JSON; if tacho export wrote "
                    "it, name the trace that it was made from");
  }
  decoder_.CountPhases(basics_.counts);
  return KinetoReadResult{window_.end_offset(), first_damage_, has_other_trace_};
}

std::string_view Document::Start() {
  while (static_cast<size_t>(c_.end - c_.p) < kSniffBytes && window_.More()) {
  }
  return {c_.p, std::min(static_cast<size_t>(c_.end - c_.p), kSniffBytes)};
}

// Whether a text that begins with a bracket, as a list does, is really a line of a log:
// "[2026-01-04 06:30:11] server_args=...".
bool Document::IsLog() {
  const std::string_view start = Start();
  const size_t end = start.find_first_of("]{\"\n", 1);
  if (end == std::string_view::npos || start[end] != ']' || end + 2 >= start.size()) return false;
  const bool is_time = start.find_first_of("-:") < end && start[1] >= '0' && start[1] <= '9';
  return is_time && start[end + 1] == ' ';
}

// Whether the list at the cursor holds something other than events, judged by its first element.
bool Document::IsListOfOtherThings() {
  const std::string_view start = Start();
  Cursor at{start.data() + 1, start.data() + start.size(), true};
  at.p = SkipSpace(at.p, at.end);
  if (at.p == at.end || *at.p == ']') return false;
  if (*at.p == '[') return true;
  const bool is_object = *at.p == '{';
  if (SkipValue(at, Place::kElement) != Scan::kOk) return false;  // the element is damaged or cut
  at.p = SkipSpace(at.p, at.end);
  const bool goes_on = at.p != at.end && (*at.p == ',' || *at.p == ']');
  return goes_on && !(is_object && LooksLikeTraceJson(start));
}

// An object that was read completely and has no key of a trace is JSON of another kind.
Result<void> Document::CheckKeys() const {
  constexpr size_t kShown = 3, kLongest = 40;
  const bool damaged =
      notes_.CountOf(NoteId::kTruncatedJson) > 0 || notes_.CountOf(NoteId::kDamagedEvent) > 0;
  if (has_events_ || damaged || header_.fields.empty()) return {};
  std::string keys;
  for (size_t i = 0; i < header_.fields.size(); ++i) {
    const std::string& key = header_.fields[i].first;
    if (IsTraceKey(key)) return {};
    if (i < kShown) keys += (i == 0 ? "\"" : ", \"") + key.substr(0, kLongest) + "\"";
  }
  if (keys == R"("schema", "tacho", "verdict")" || keys == R"("schema", "tacho", "traces")") {
    return Fail(ErrorKind::kUnreadable,
                "holds results of tacho analyze, which are read from a file only: name that file");
  }
  if (keys == R"("schema", "tacho", "command")")
    return Fail(ErrorKind::kUnreadable, "is the run.json of a recording: name its folder");
  if (keys == R"("schema", "tacho", "comparable")")
    return Fail(ErrorKind::kUnreadable,
                "is what tacho compare --json writes: name the runs that it compared");
  return Fail(ErrorKind::kUnreadable,
              "is JSON, but not a trace: it has no \"traceEvents\"; its " +
                  std::string(header_.fields.size() > kShown ? "first keys are " : "keys are ") +
                  keys);
}

void Document::NoteDamage(NoteId reason) {
  if (!first_damage_) first_damage_ = window_.offset();
  notes_.Add(reason, Where());
}

bool Document::ToText(bool commas) {
  for (;;) {
    c_.p = commas ? SkipSpaceAndCommas(c_.p, c_.end) : SkipSpace(c_.p, c_.end);
    if (c_.p != c_.end) return true;
    if (!window_.More()) return false;
  }
}

void Document::ReadObject() {
  for (;;) {
    if (!ToText(true)) {
      notes_.Add(NoteId::kTruncatedJson, Where());
      return;
    }
    if (*c_.p == '}') {
      ++c_.p;
      ReadBehindEnd();
      return;
    }
    if (*c_.p == '\0') {
      if (!SkipPadding()) return notes_.Add(NoteId::kTruncatedJson, Where());
      NoteDamage(NoteId::kDamagedEvent);
      continue;
    }
    if (!ReadMember()) return;
  }
}

bool Document::ReadMember() {
  for (;;) {
    // If bytes are missing, the loop reads the member again: all members except the events are
    // short.
    Cursor at = c_;
    Scan scan = *at.p == '"' ? SkipString(at, Place::kKey) : Scan::kBad;
    const std::string_view key(c_.p + 1,
                               scan == Scan::kOk ? static_cast<size_t>(at.p - c_.p - 2) : 0);
    if (scan == Scan::kOk) {
      at.p = SkipSpace(at.p, at.end);
      if (at.p == at.end)
        scan = Scan::kMore;
      else if (*at.p != ':')
        scan = Scan::kBad;
    }
    if (scan == Scan::kOk) {
      at.p = SkipSpace(at.p + 1, at.end);
      if (at.p == at.end) {
        scan = Scan::kMore;
      } else if (*at.p == '[' && key == "traceEvents") {
        c_.p = at.p + 1;
        has_events_ = true;
        return ReadEvents(false);
      } else {
        const char* const value = at.p;
        scan = SkipValue(at, Place::kDocumentMember);
        if (scan == Scan::kOk && HasHole(c_.p, at.p)) scan = Scan::kBad;
        if (scan == Scan::kOk) {
          AddHeaderField(key, {value, static_cast<size_t>(at.p - value)}, header_);
          c_.p = at.p;
          return true;
        }
      }
    }
    const auto size = static_cast<size_t>(c_.end - c_.p);
    if (scan == Scan::kMore && !c_.last && size < options_.largest_event_bytes) {
      window_.More();  // if none come, the next try knows that this is the end
      continue;
    }
    if (scan == Scan::kMore && c_.last) {
      notes_.Add(NoteId::kTruncatedJson, Where());
      return false;
    }
    // The member is damaged. If the events are still to come, continue there.
    NoteDamage(NoteId::kDamagedEvent);
    static constexpr std::string_view kEvents = "\"traceEvents\"";
    for (;;) {
      const char* const found = std::search(c_.p + 1, c_.end, kEvents.begin(), kEvents.end());
      if (found != c_.end) {
        c_.p = found;
        break;
      }
      c_.p = std::max(c_.p, c_.end - static_cast<ptrdiff_t>(kEvents.size()));
      if (!window_.More()) return false;
    }
  }
}

// Moves past zero bytes. False if the document ends with them: then they are the padding of a
// preallocated file that was not cut to size. If text follows, they are a hole.
bool Document::SkipPadding() {
  for (;;) {
    while (c_.p != c_.end && *c_.p == '\0') ++c_.p;
    if (c_.p != c_.end) return true;
    if (!window_.More()) return false;
  }
}

// Reads events up to the bracket that ends their list. False if the document ends first.
bool Document::ReadEvents(bool list_form) {
  for (;;) {
    if (!ToText(true)) {
      // A list may lack its closing bracket, so that its writer can be stopped at any time (a rule
      // of chrome://tracing).
      if (!list_form) notes_.Add(NoteId::kTruncatedJson, Where());
      return false;
    }
    if (*c_.p == '{') {
      const Scan scan = decoder_.Decode(c_, window_.offset());
      if (scan == Scan::kOk) continue;
      if (scan == Scan::kMore && !c_.last) {
        if (static_cast<size_t>(c_.end - c_.p) < options_.largest_event_bytes) {
          window_.More();
        } else if (!SkipDamage(NoteId::kOversizedEvent)) {
          return false;
        }
        continue;
      }
      if (scan == Scan::kMore) {
        notes_.Add(NoteId::kTruncatedJson, Where());
        return false;
      }
    } else if (*c_.p == ']') {
      const Scan scan = EndsArray(c_, false);
      if (scan == Scan::kMore) {
        window_.More();
        continue;
      }
      if (scan == Scan::kOk) {
        ++c_.p;
        return true;
      }
    } else if (*c_.p == '\0' && !SkipPadding()) {
      if (!list_form) notes_.Add(NoteId::kTruncatedJson, Where());
      return false;
    }
    if (!SkipDamage(NoteId::kDamagedEvent)) return false;
  }
}

// Moves from unreadable text to the next event, or to the bracket after the last one. False if the
// document ends first.
bool Document::SkipDamage(NoteId reason) {
  NoteDamage(reason);
  char before = *c_.p;  // the last character that is no white space
  ++c_.p;
  for (;;) {
    if (c_.p == c_.end) {
      if (window_.More()) continue;
      notes_.Add(NoteId::kTruncatedJson, Where());
      return false;
    }
    Scan scan = Scan::kBad;
    if (*c_.p == '{') scan = OpensEvent(before, c_.p, c_.end, c_.last, decoder_.habits());
    if (*c_.p == ']') scan = EndsArray(c_, true);
    if (*c_.p == '"' && !has_other_trace_) scan = BeginsTrace(c_);
    if (*c_.p == '"' && scan == Scan::kOk) {
      has_other_trace_ = true;
      scan = Scan::kBad;
    }
    if (scan == Scan::kOk) return true;
    if (scan == Scan::kMore) {
      window_.More();
      continue;
    }
    if (!IsSpace(*c_.p)) before = *c_.p;
    ++c_.p;
  }
}

// Whether c.p is at the key of a trace's events, followed by the bracket that opens them.
Scan Document::BeginsTrace(const Cursor& c) {
  static constexpr std::string_view kKey = "\"traceEvents\"";
  const bool is_last = c.last || c.end - c.p > kMostBlanks;
  const Scan undecided = is_last ? Scan::kBad : Scan::kMore;
  const std::string_view text(c.p, static_cast<size_t>(c.end - c.p));
  if (!text.starts_with(kKey)) return kKey.starts_with(text) ? undecided : Scan::kBad;
  const char* p = SkipSpace(c.p + kKey.size(), c.end);
  if (p != c.end && *p != ':') return Scan::kBad;
  if (p != c.end) p = SkipSpace(p + 1, c.end);
  if (p == c.end) return undecided;
  return *p == '[' ? Scan::kOk : Scan::kBad;
}

// Whether the bracket at c.p ends the array of events, judged by what follows it. In damaged text
// (`strict`) only a known key proves it, because other keys also follow brackets inside arguments.
Scan Document::EndsArray(const Cursor& c, bool strict) {
  const bool is_last = c.last || c.end - c.p > kMostBlanks;
  const Scan undecided = is_last ? Scan::kBad : Scan::kMore;
  const char* p = SkipSpace(c.p + 1, c.end);
  if (p == c.end) return is_last && !strict ? Scan::kOk : undecided;
  if (*p == '}') {
    p = SkipSpace(p + 1, c.end);
    if (p == c.end) return is_last ? Scan::kOk : Scan::kMore;
    return strict ? Scan::kBad : Scan::kOk;
  }
  if (!strict && *p != ',') return Scan::kOk;
  p = SkipSpaceAndCommas(p, c.end);
  if (p == c.end) return is_last && !strict ? Scan::kOk : undecided;
  if (!strict) return *p == '{' || *p == ']' ? Scan::kBad : Scan::kOk;
  if (*p != '"') return Scan::kBad;
  ++p;
  for (const std::string_view key : kTrailerKeys) {
    const std::string_view have(p, std::min(static_cast<size_t>(c.end - p), key.size() + 1));
    if (have.size() <= key.size() && key.starts_with(have)) return undecided;
    if (have.size() > key.size() && have.starts_with(key) && have.back() == '"') return Scan::kOk;
  }
  return Scan::kBad;
}

void Document::ReadBehindEnd() {
  for (;;) {
    while (c_.p != c_.end && (IsSpace(*c_.p) || *c_.p == '\0')) ++c_.p;
    if (c_.p != c_.end) {
      const bool is_document = *c_.p == '{' || *c_.p == '[';
      NoteDamage(is_document ? NoteId::kSecondDocument : NoteId::kTrailingJunk);
      c_.p = c_.end;
      // Read to the end, where a compressed stream has its trailer.
      while (window_.More()) c_.p = c_.end;
      return;
    }
    if (!window_.More()) return;
  }
}

}  // namespace
}  // namespace kineto

Result<KinetoReadResult> ReadKinetoJson(BlockStream& stream, EventSink& sink,
                                        const KinetoReadOptions& options) {
  return kineto::Document(stream, sink, options).Read();
}

}  // namespace tacho
