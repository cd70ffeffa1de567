#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// How much a defect of the data matters.
enum class Severity {
  kInfo,      // worth knowing; no figure is affected
  kNotice,    // some figures do not mean what they usually do
  kDataLoss,  // events are missing: totals are lower bounds (exit status 4)
};
inline constexpr size_t kSeverityCount = 3;

// Every defect that can be found in a trace. The table in notes.cc gives its severity, text and
// remedy; docs/notes.md explains them at length.
enum class NoteId : uint8_t {
  kTruncatedJson,       // the file ends inside the events or before the closing brackets
  kTruncatedGzip,       // a compressed stream ends before its trailer
  kCorruptGzip,         // a compressed stream is damaged: bad block, checksum or length
  kSecondDocument,      // another JSON document after the end of the trace
  kTrailingJunk,        // bytes after the end of the compressed stream or of the JSON
  kReadFailed,          // the system could not read a file to its end
  kDamagedEvent,        // an event could not be read; reading went on at the next one
  kOversizedEvent,      // an event larger than the reader's bound was left out
  kRepairedName,        // a string with unescaped quotes; its end was found from the text after it
  kOddNumber,           // a time that is not a plain decimal number (exponent, text, sign inside)
  kBadTime,             // an event without a usable time; it is counted but in no table
  kNegativeDuration,    // a negative duration, taken as 0
  kMissingDuration,     // a complete event without a duration, taken as 0
  kInvalidUtf8,         // names that are not UTF-8, kept byte for byte
  kUnmatchedBeginEnd,   // a begin without end or the other way round
  kNoGpuEvents,         // no event of any GPU
  kNoEngineStep,        // the trace of an engine that shows no step and no work
  kDeviceRowsNotRead,   // work of a device in a form that tacho does not read
  kRangeProfiler,       // counters of ranges instead of kernels
  kMixedRanks,          // several ranks in one file that cannot be separated
  kNoEvents,            // a trace without a single event
  kOrphanGpuEvents,     // GPU events whose launch is not in the recording
  kLostGpuWork,         // GPU work of some calls is missing in the middle of the file
  kLostAtEdge,          // the same, but only for the first or the last calls of the recording
  kCutOffWork,          // too much work was queued at the recording's end to know idle time
  kRecorderStopped,     // the recording of calls and GPU work is shorter than the trace
  kDeviceClock,         // GPU work before its launch, or after a call that waited for it
  kImpossibleOrder,     // GPU work of a stream out of the order of its launches
  kTimesRefused,        // so many of these that tacho uses none of the device's times
  kLongOverlap,         // a GPU event that overlaps the next ones of its stream by far (overflow)
  kProducerWarning,     // the profiler itself logged a warning or an error into the trace
  kProducerLostEvents,  // the profiler itself says that events are missing, or may be
  kUnsupportedDriver,   // nsys used libraries of an older CUDA version than the driver's
  kUnfinishedSpan,      // spans that were still open when the profiler stopped
  kManyCategories,      // more event categories than a trace has ids for
  kDamagedTable,        // a table of a database could not be read to its end
  kDamagedRow,          // a row whose process or thread is unknown; it is left out
  kUnknownString,       // an id for a name that the file does not have
  kGraphAsOne,          // a CUDA graph that was recorded without its kernels
  kUnknownSchema,       // an export with an unknown newer schema, or without a schema
  kCount,
};

struct NoteKind {
  std::string_view id;  // stable, kebab-case
  Severity severity;
  std::string_view text;    // one sentence: what the defect means for the figures
  std::string_view remedy;  // what the user can do
};
const NoteKind& KindOf(NoteId id);
class Notes;
// The remedy for a note. It also depends on the other `notes` of the trace: for example,
// kUnsupportedDriver may be the reason why events are missing.
std::string_view RemedyOf(NoteId id, const Notes& notes);
std::string_view SeverityName(Severity severity);

struct Note {
  NoteId id;
  uint64_t count = 0;
  std::string where;  // where it was first found, such as "byte 468110"
};

// The defects in the data of one trace, sorted by id, so that the output does not depend on the
// order in which they are found.
class Notes {
 public:
  // Adds `count` to the note `id`. `where` is kept only by the first call for this id.
  void Add(NoteId id, std::string_view where, uint64_t count = 1);
  [[nodiscard]] uint64_t CountOf(NoteId id) const;
  [[nodiscard]] const std::vector<Note>& list() const { return list_; }
  [[nodiscard]] bool ends_early() const;  // the trace's file is cut off
  [[nodiscard]] bool lost_data() const;
  // Whether data is also missing between the events that were read, not only at the edges.
  [[nodiscard]] bool has_holes() const;

 private:
  std::vector<Note> list_;
};

}  // namespace tacho
