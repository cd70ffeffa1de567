#include "model/notes.h"

#include <algorithm>
#include <iterator>

namespace tacho {
namespace {

constexpr NoteKind kKinds[] = {
    {"truncated-json", Severity::kDataLoss,
     "the file ends before the trace does: its writer was stopped, and GPU events are lost before "
     "others",
     "stop the profiler and wait for the file's final name before ending the engine"},
    {"truncated-gzip", Severity::kDataLoss,
     "the compressed stream ends early: everything after that point is lost",
     "copy the file again, or wait until the engine has written it whole"},
    {"corrupt-gzip", Severity::kDataLoss,
     "the compressed stream is damaged: what follows is lost, and figures may be wrong",
     "copy the file again and compare checksums"},
    {"second-document", Severity::kDataLoss,
     "another JSON document follows the trace, or begins within it, and was not read",
     "give each trace as a file of its own, or all of them in a folder or an archive; of ranks "
     "that "
     "wrote into one file: record again with a name for each"},
    {"trailing-junk", Severity::kInfo, "bytes follow the end of the trace and were left alone",
     "none needed"},
    {"read-failed", Severity::kDataLoss, "the system stopped delivering the file in the middle",
     "check the disk or the mount, or copy the file to a local one"},
    {"damaged-event", Severity::kDataLoss,
     "events that are not readable were skipped; all others are here",
     "record again with a newer torch"},
    {"oversized-event", Severity::kDataLoss, "an event beyond the size limit was skipped",
     "none: no profiler writes such an event"},
    {"repaired-name", Severity::kInfo, "strings with unescaped quotes were repaired",
     "none needed; torch writes them since 2026 as it should"},
    {"odd-number", Severity::kInfo, "times that are not plain decimals were converted",
     "none needed"},
    {"bad-time", Severity::kDataLoss,
     "events without a usable time are counted but stand in no table", "record again"},
    {"negative-duration", Severity::kNotice, "negative durations were taken as 0",
     "record again; with torch, one newer than August 2022"},
    {"missing-duration", Severity::kNotice,
     "complete events without a duration were taken as 0 ns long; tacho stats leaves those of nsys "
     "out",
     "record again"},
    {"invalid-utf8", Severity::kInfo, "names that are not valid UTF-8 were kept byte for byte",
     "none needed"},
    {"unmatched-begin-end", Severity::kNotice,
     "begin and end events without a partner were left out", "record a longer window"},
    {"no-gpu-events", Severity::kNotice,
     "there is no GPU event: device figures come from the host's operators, or are absent",
     "for a GPU engine: check that CUPTI is usable and not taken by another profiler"},
    {"no-engine-step", Severity::kNotice,
     "the engine took no step while the profiler ran: no step and no work is in the trace",
     "record while requests are answered; if a GPU engine answered some: check that CUPTI is "
     "usable and not "
     "taken by another profiler"},
    {"device-rows-not-read", Severity::kNotice,
     "the trace has rows of a device in a form that tacho does not read: device figures lack them",
     "none yet: the timeline shows them (tacho view)"},
    {"range-profiler", Severity::kNotice,
     "the range profiler ran, which counts hardware events for each range of kernels: no times of "
     "kernels were recorded",
     "record again without profiler_metrics in torch's _ExperimentalConfig"},
    {"mixed-ranks", Severity::kNotice,
     "the file holds several ranks as one: their launches have the same correlations, or their "
     "work "
     "the same device, so nothing tells whose is whose, and no figure of a rank is given",
     "analyze the ranks' own files together, or their folder"},
    {"no-events", Severity::kNotice, "the trace holds no event at all",
     "profile while requests are running"},
    {"orphan-gpu-events", Severity::kInfo,
     "GPU work whose launch is not in the recording is counted as work all the same",
     "none needed"},
    {"lost-gpu-work", Severity::kDataLoss,
     "calls put work onto a device that is not in the file: busy time is a lower bound, and idle "
     "time cannot be told where that work may have run in more than 1 % of the time",
     "record a shorter window; with torch, a larger buffer (ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB in "
     "the "
     "file that KINETO_CONFIG names); on ROCm, a newer release"},
    {"lost-at-edge", Severity::kDataLoss,
     "the work of the first or the last launch and copy calls is not in the file: figures of the "
     "device are of the rest of the recording, those of the host of the whole trace",
     "where the first are lost: send requests before and while the profiler starts, open fewer "
     "sessions in one process, use CUPTI of CUDA 13.1 or later; where the last are: record a "
     "shorter window, or look whether a kernel never ended"},
    {"cut-off-work", Severity::kDataLoss,
     "the recording ends before work that was launched: it may have run in more than 1 % of the "
     "time, where the device looks idle",
     "stop the profiler when the engine is idle, or record longer"},
    {"recorder-stopped", Severity::kDataLoss,
     "the recording of calls and device work is shorter than the trace: in the rest of the trace "
     "the device is neither idle nor busy",
     "stop the recording inside the load; with nsys: --capture-range=cudaProfilerApi, or "
     "--cuda-flush-interval"},
    {"device-clock", Severity::kNotice,
     "work starts before the call that launched it, or ends after a call that waited for it: the "
     "device's clock is off against the host's, so delays of launches and causes of idle time are "
     "left out",
     "a shorter recording, or a newer profiler; busy time and sums hold"},
    {"impossible-order", Severity::kNotice,
     "work of one stream starts out of the order of its launches: times of single pieces are off",
     "update the profiler, or record again"},
    {"times-refused", Severity::kDataLoss,
     "the device's rows lie out of order and on top of each other: they were not written when they "
     "ran, so busy and idle time are not shown; counts hold, and durations are those that the "
     "profiler wrote",
     "record a shorter window; on ROCm, a newer release"},
    {"long-overlap", Severity::kNotice,
     "GPU events reach far over later ones of their stream: their durations may have overflowed",
     "update ROCm, or record again"},
    {"producer-warning", Severity::kNotice,
     "the profiler logged warnings or errors while it recorded",
     "tacho analyze --json has them, under facts.producer_log"},
    {"producer-lost-events", Severity::kDataLoss,
     "the profiler itself says that events are missing, or may be: totals are lower bounds",
     "record a shorter part, and stop the profiler before the engine ends"},
    {"unsupported-driver", Severity::kNotice,
     "the profiler does not know the installed CUDA driver and recorded with the libraries of an "
     "older one, which may miss events or all GPU work",
     "record with a newer nsys, one that supports the installed driver"},
    {"unfinished-span", Severity::kInfo, "spans were still open when the profiler stopped",
     "none needed"},
    {"many-categories", Severity::kInfo,
     "there are very many categories of events: those that tacho does not know are counted "
     "together, as (other)",
     "none: no profiler writes that many"},
    {"damaged-table", Severity::kDataLoss,
     "a table of the database cannot be read to its end: its rows from there on are lost",
     "copy the file again, or export the report again with nsys export --type sqlite"},
    {"damaged-row", Severity::kDataLoss,
     "rows that do not say which process, device or stream they are of were skipped",
     "export the report again with nsys export --type sqlite"},
    {"unknown-string", Severity::kNotice,
     "names are missing in the file: they are shown by their numbers, as (string 17)",
     "export the report again with nsys export --type sqlite, and keep the table StringIds whole"},
    {"graph-as-one", Severity::kNotice,
     "CUDA graphs were recorded as a whole: which kernels they ran, and whether they communicated, "
     "is not in the file",
     "record with nsys profile --cuda-graph-trace=node"},
    {"unknown-schema", Severity::kNotice,
     "the export has no schema version, or a newer one than tacho knows: its tables were read by "
     "the columns that tacho knows",
     "compare some figures with nsys stats, or update tacho"},
};
static_assert(std::size(kKinds) == static_cast<size_t>(NoteId::kCount));

}  // namespace

const NoteKind& KindOf(NoteId id) { return kKinds[static_cast<size_t>(id)]; }

std::string_view RemedyOf(NoteId id, const Notes& notes) {
  const bool may_be_the_drivers = id == NoteId::kProducerLostEvents || id == NoteId::kNoGpuEvents ||
                                  id == NoteId::kNoEngineStep;
  return KindOf(may_be_the_drivers && notes.CountOf(NoteId::kUnsupportedDriver) > 0
                    ? NoteId::kUnsupportedDriver
                    : id)
      .remedy;
}

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kNotice:
      return "notice";
    case Severity::kDataLoss:
      return "data-loss";
  }
  return "";
}

void Notes::Add(NoteId id, std::string_view where, uint64_t count) {
  if (count == 0) return;
  auto at = std::lower_bound(list_.begin(), list_.end(), id,
                             [](const Note& note, NoteId wanted) { return note.id < wanted; });
  if (at == list_.end() || at->id != id) at = list_.insert(at, Note{id, 0, std::string(where)});
  at->count += count;
}

uint64_t Notes::CountOf(NoteId id) const {
  for (const Note& note : list_) {
    if (note.id == id) return note.count;
  }
  return 0;
}

bool Notes::has_holes() const {
  return std::any_of(list_.begin(), list_.end(), [](const Note& note) {
    switch (note.id) {
      case NoteId::kTruncatedJson:
      case NoteId::kTruncatedGzip:
      case NoteId::kSecondDocument:
      case NoteId::kReadFailed:
      case NoteId::kLostAtEdge:
      case NoteId::kCutOffWork:
      case NoteId::kRecorderStopped:
        return false;
      default:
        return KindOf(note.id).severity == Severity::kDataLoss;
    }
  });
}

bool Notes::ends_early() const {
  return CountOf(NoteId::kTruncatedJson) + CountOf(NoteId::kTruncatedGzip) > 0;
}

bool Notes::lost_data() const {
  return std::any_of(list_.begin(), list_.end(), [](const Note& note) {
    return KindOf(note.id).severity == Severity::kDataLoss;
  });
}

}  // namespace tacho
