#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// How much a defect of the data matters.
enum class Severity {
  kInfo,      // worth knowing, no figure is affected
  kNotice,    // some figures do not mean what they usually do
  kDataLoss,  // events are missing: totals are lower bounds (exit status 4)
};
inline constexpr size_t kSeverityCount = 3;

// Every defect that a reader can meet. One table (notes.cc) has its severity, text and remedy;
// docs/notes.md explains them at length.
enum class NoteId : uint8_t {
  kTruncatedJson,       // the file ends inside the events or before the closing brackets
  kTruncatedGzip,       // a compressed stream ends before its trailer
  kCorruptGzip,         // a compressed stream is damaged: bad block, checksum or length
  kSecondDocument,      // another JSON document after the end of the trace
  kTrailingJunk,        // bytes after the end of the compressed stream or of the JSON
  kReadFailed,          // the system stopped giving bytes in the middle of a file
  kDamagedEvent,        // an event could not be read; reading went on at the next one
  kOversizedEvent,      // an event larger than the reader's bound was left out
  kRepairedName,        // a string with unescaped quotes was read by the text that follows it
  kOddNumber,           // a time that is no plain decimal (exponent, text, sign inside)
  kBadTime,             // an event without a usable time: counted, in no table
  kNegativeDuration,    // a negative duration, taken as 0
  kMissingDuration,     // a complete event without duration, taken as 0
  kInvalidUtf8,         // names that are not UTF-8, kept byte for byte
  kUnmatchedBeginEnd,   // a begin without end or the other way round
  kNoGpuEvents,         // no event of any GPU
  kNoEngineStep,        // an engine's trace without a step and without work
  kDeviceRowsNotRead,   // work of a device in a form that tacho does not read
  kRangeProfiler,       // counters of ranges in place of kernels
  kMixedRanks,          // several ranks in one file, without anything to tell them apart
  kNoEvents,            // a trace without a single event
  kOrphanGpuEvents,     // GPU events whose launch is not in the recording
  kLostGpuWork,         // GPU work of some calls is missing in the middle of the file
  kLostAtEdge,          // the same, but only for the first or the last calls of the recording
  kCutOffWork,          // too much work was queued at the recording's end to know idle time
  kRecorderStopped,     // the recording of calls and GPU work is shorter than the trace
  kDeviceClock,         // GPU work before its launch, or after a call that waited for it
  kImpossibleOrder,     // GPU work of a stream out of the order of its launches
  kTimesRefused,        // so much impossible order that tacho uses no time of the device
  kLongOverlap,         // a GPU event that reaches far into the next ones of its stream (overflow)
  kProducerWarning,     // the profiler itself logged a warning or an error into the trace
  kProducerLostEvents,  // the profiler itself says that events are missing, or may be
  kUnsupportedDriver,   // nsys used the libraries of an older CUDA than the driver's
  kUnfinishedSpan,      // spans that were still open when the profiler stopped
  kManyCategories,      // more categories of events than a trace has ids for
  kDamagedTable,        // a table of a database could not be read to its end
  kDamagedRow,          // a row whose process or thread is unknown: left out
  kUnknownString,       // an id of a name that the file does not hold
  kGraphAsOne,          // a CUDA graph that was recorded without its kernels
  kUnknownSchema,       // an export with a newer schema than the known ones, or without one
  kCount,
};

struct NoteKind {
  std::string_view id;  // stable, kebab-case
  Severity severity;
  std::string_view text;    // one sentence; what it means for the figures
  std::string_view remedy;  // what the user can do
};
const NoteKind& KindOf(NoteId id);
class Notes;
// The remedy of a note. It depends on the other `notes` of the trace: if these include
// kUnsupportedDriver, that is the cause of missing events.
std::string_view RemedyOf(NoteId id, const Notes& notes);
std::string_view SeverityName(Severity severity);

struct Note {
  NoteId id;
  uint64_t count = 0;
  std::string where;  // the first place, e.g. "byte 468110"
};

// What is wrong with the data of one trace. Notes are in the order of their ids, so that the output
// does not depend on the order in which they are found.
class Notes {
 public:
  // Counts `count` more of `id`; keeps `where` if it is the first.
  void Add(NoteId id, std::string_view where, uint64_t count = 1);
  [[nodiscard]] uint64_t CountOf(NoteId id) const;
  [[nodiscard]] const std::vector<Note>& list() const { return list_; }
  [[nodiscard]] bool ends_early() const;  // the trace's file is cut off
  [[nodiscard]] bool lost_data() const;
  // Whether data is missing also within the events that were read, not only at the edges.
  [[nodiscard]] bool has_holes() const;

 private:
  std::vector<Note> list_;
};

}  // namespace tacho
