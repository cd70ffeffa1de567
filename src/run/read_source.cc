#include "run/read_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/words.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "ingest/nsys_sqlite/export_report.h"
#include "ingest/nsys_sqlite/nsys_reader.h"
#include "io/byte_source.h"
#include "io/sqlite.h"

namespace tacho {
namespace {

constexpr int kOperationsBetweenLooks = 100'000;  // of SQLite's machine: some milliseconds

tl::unexpected<Error> Interrupted() { return Fail(ErrorKind::kInterrupted, "interrupted"); }

// Reports how many stored bytes of a stream have been read so far. Ends early if a stop is
// requested.
class ReportingStream : public BlockStream {
 public:
  ReportingStream(std::unique_ptr<BlockStream> stream, RunProgress& progress)
      : stream_(std::move(stream)), progress_(progress) {}

  Block Next() override {
    if (progress_.IsStopped()) return {};
    const Block block = stream_->Next();
    const uint64_t now = stream_->stored_bytes();
    progress_.OnBytes(now - reported_);
    reported_ = now;
    return block;
  }
  [[nodiscard]] StreamDefect defect() const override { return stream_->defect(); }
  [[nodiscard]] const std::string& defect_text() const override { return stream_->defect_text(); }
  [[nodiscard]] uint64_t stored_bytes() const override { return stream_->stored_bytes(); }

 private:
  std::unique_ptr<BlockStream> stream_;
  RunProgress& progress_;
  uint64_t reported_ = 0;
};

Error At(const TraceSource& source, const Error& error) {
  return error.Place().empty() ? error.WithContext(source.Display()) : error;
}

// Makes the error clearer if the file has an nsys extension but is neither a database nor a report
// of nsys. Such a file was read as JSON, so the error is about JSON.
Error ByName(const TraceSource& source, Error error) {
  if (source.kind != ContentKind::kOther && source.kind != ContentKind::kText) return error;
  const auto named = [name = source.Display()](auto... endings) {
    return (name.ends_with(endings) || ...);
  };
  if (named(".sqlite", ".sqlite3", ".db")) {
    error = {error.kind,
             "is not a SQLite database: copy the file again, or export the report again with nsys "
             "export --type sqlite"};
  } else if (named(".nsys-rep", ".qdstrm")) {
    error = {error.kind,
             "is not a report of Nsight Systems: copy the file again, or export the report where "
             "it was recorded, with nsys export --type sqlite"};
  }
  return error;
}

// The first bytes of a stream, up to a limit.
class BeginningOfStream : public BlockStream {
 public:
  BeginningOfStream(std::unique_ptr<BlockStream> stream, uint64_t bytes)
      : stream_(std::move(stream)), left_(bytes) {}

  Block Next() override {
    if (left_ == 0) return {};
    Block block = stream_->Next();
    block.size = static_cast<size_t>(std::min<uint64_t>(block.size, left_));
    left_ -= block.size;
    return block;
  }
  [[nodiscard]] StreamDefect defect() const override { return StreamDefect::kNone; }
  [[nodiscard]] const std::string& defect_text() const override { return none_; }
  [[nodiscard]] uint64_t stored_bytes() const override { return stream_->stored_bytes(); }

 private:
  std::unique_ptr<BlockStream> stream_;
  uint64_t left_;
  std::string none_;
};

void NoteDefect(const StreamEnd& end, Notes& notes) {
  switch (end.defect) {
    case StreamDefect::kNone:
      break;
    case StreamDefect::kTruncated:
      notes.Add(NoteId::kTruncatedGzip, end.text);
      break;
    case StreamDefect::kCorrupt:
      notes.Add(NoteId::kCorruptGzip, end.text);
      break;
    case StreamDefect::kTrailingJunk:
      notes.Add(NoteId::kTrailingJunk, end.text);
      break;
    case StreamDefect::kReadFailed:
      notes.Add(NoteId::kReadFailed, end.text);
      break;
  }
}

// Opens a database in place if it is a plain file on the disk. If it is compressed or in an
// archive, unpacks it into memory.
Result<SqliteDatabase> OpenDatabase(const TraceSource& source, StreamThreads threads) {
  constexpr size_t kMostUnpacked = size_t{16} << 30;
  if (source.member.empty() && IsSqliteFile(source.path)) {
    return SqliteDatabase::OpenFile(source.path);
  }
  TACHO_ASSIGN_OR_RETURN(const auto stream, OpenSource(source, threads));
  std::string bytes;
  for (Block block = stream->Next(); block.size > 0; block = stream->Next()) {
    bytes.append(block.data, block.size);
    if (bytes.size() > kMostUnpacked) {
      return Fail(ErrorKind::kUnreadable, "is larger than 16 GiB unpacked: unpack it to a file");
    }
  }
  if (stream->defect() != StreamDefect::kNone) {
    return Fail(ErrorKind::kUnreadable, "cannot be unpacked: " + stream->defect_text());
  }
  return SqliteDatabase::OfBytes(std::move(bytes));
}

// The export of an nsys report, which is in a temporary folder; null if the source is not a report.
Result<std::unique_ptr<NsysExport>> ExportIfReport(const TraceSource& source,
                                                   RunProgress& progress) {
  if (!source.is_nsys_report()) return nullptr;
  const std::stop_token stop = progress.StopOfExports();
  auto made = ExportNsysReport(
      source.path,
      {.is_stream = source.kind == ContentKind::kNsysStream,
       .stop = stop,
       .on_begin = [&](const std::string& by) { progress.OnExportBegin(source.path, by); },
       .on_share = [&](double share) { progress.OnExportShare(share); }});
  progress.OnExportEnd();
  if (!made) return tl::unexpected<Error>(made.error().WithContext(source.path));
  if (stop.stop_requested()) return Interrupted();
  return std::make_unique<NsysExport>(*std::move(made));
}

Result<TraceSizes> ReadNsys(const TraceSource& source, StreamThreads threads,
                            const NextSink& next_sink, RunProgress& progress,
                            const NsysParts& parts, const NsysTimed& timed) {
  TACHO_ASSIGN_OR_RETURN(const auto exported, ExportIfReport(source, progress));
  TACHO_ASSIGN_OR_RETURN(SqliteDatabase database, exported
                                                      ? SqliteDatabase::OpenFile(exported->path)
                                                      : OpenDatabase(source, threads));
  database.OnProgress(kOperationsBetweenLooks, [&] { return progress.IsStopped(); });
  uint64_t reported = 0;
  const auto report = [&](double share) {
    const auto now = static_cast<uint64_t>(static_cast<double>(source.stored_bytes) * share);
    progress.OnBytes(now - std::min(now, reported));
    reported = std::max(now, reported);
  };
  const auto read = ReadNsysSqlite(database, {.next_sink = next_sink,
                                              .on_progress = report,
                                              .parts = parts,
                                              .timed = timed,
                                              .only = source.part});
  if (progress.IsStopped()) return Interrupted();
  TACHO_RETURN_IF_ERROR(read);
  report(1);
  return TraceSizes{source.stored_bytes, source.stored_bytes};
}

// If compressed data has wrong bytes, the decoder nearly always goes on after a few symbols and
// gives wrong text. The text soon stops making sense: in a thousand trials, at most 5,700 bytes
// later. So the last kSuspectBytes before that place do not count. (The checksum only tells that
// there is damage, not where.)
constexpr uint64_t kSuspectBytes = 6 * 1024;

Result<TraceSizes> ReadKineto(const TraceSource& source, StreamThreads threads,
                              const NextSink& next_sink, RunProgress& progress) {
  auto opened = OpenSource(source, threads);
  if (!opened) return tl::unexpected<Error>(At(source, opened.error()));
  ReportingStream stream(std::move(*opened), progress);
  EventSink* sink = &next_sink("");
  auto read = ReadKinetoJson(stream, *sink);
  if (progress.IsStopped()) return Interrupted();
  StreamEnd end{stream.defect(), stream.defect_text()};
  // The size of standard input is known only after it was read.
  const uint64_t stored = source.stored_bytes > 0 ? source.stored_bytes : stream.stored_bytes();
  const bool is_damaged = end.defect == StreamDefect::kCorrupt;
  const bool has_writers = read && read->has_other_trace;
  if ((is_damaged || has_writers) && read && read->first_damage && source.stored_bytes > 0) {
    const uint64_t damage = *read->first_damage;
    const uint64_t sound = damage - std::min(damage, is_damaged ? kSuspectBytes : 0);
    opened = OpenSource(source, StreamThreads::kInline);
    if (!opened) return tl::unexpected<Error>(At(source, opened.error()));
    BeginningOfStream beginning(std::move(*opened), sound);
    sink = &next_sink("");
    read = ReadKinetoJson(beginning, *sink);
    const std::string counts =
        fmt::format("the text first makes no sense at byte {}, so only its first {} bytes count",
                    damage, sound);
    if (is_damaged) end.text += "; " + counts;
    if (has_writers && read)
      sink->notes().Add(NoteId::kSecondDocument,
                        counts + ": several writers of one file, for another trace begins in it");
  }
  const bool is_nothing = !read || (is_damaged && sink->basics().counts.total == 0);
  if (is_nothing && end.defect != StreamDefect::kNone) {
    return tl::unexpected<Error>(
        At(source, {ErrorKind::kUnreadable, fmt::format("{}; {} bytes are there", end.text,
                                                        WithThousands(std::to_string(stored)))}));
  }
  if (!read) return tl::unexpected<Error>(At(source, ByName(source, read.error())));
  NoteDefect(end, sink->notes());
  return TraceSizes{stored, read->json_bytes};
}

Result<TraceSizes> ReadPartsOf(const TraceSource& source, StreamThreads threads,
                               const NextSink& next_sink, RunProgress& progress,
                               const NsysParts& parts, const NsysTimed& timed) {
  if (source.kind == ContentKind::kNsysSqlite || source.kind == ContentKind::kSqlite ||
      source.is_nsys_report()) {
    return ReadNsys(source, threads, next_sink, progress, parts, timed)
        .map_error([&](const Error& error) { return At(source, error); });
  }
  return ReadKineto(source, threads, next_sink, progress);
}

}  // namespace

Result<TraceSizes> ReadSource(const TraceSource& source, StreamThreads threads,
                              const NextSink& next_sink, RunProgress& progress) {
  return ReadPartsOf(source, threads, next_sink, progress, {}, {});
}

SourceReader ReaderOfParts(const NsysParts& parts, const TimedParts& timed, size_t threads) {
  return [=](const TraceSource& source, StreamThreads stream_threads, const NextSink& next_sink,
             RunProgress& progress) {
    // One process: the sums do not separate processes, so its rows are read.
    if (!source.part.empty()) {
      NsysParts all = parts;
      all.gpu = all.gpu || timed.gpu;
      all.gpu_details = all.gpu_details || timed.gpu_details;
      all.calls = all.calls || timed.calls;
      all.os_calls = all.os_calls || timed.os_calls;
      return ReadPartsOf(source, stream_threads, next_sink, progress, all, {});
    }
    WorkTimes times;
    auto read = ReadPartsOf(source, stream_threads, next_sink, progress, parts,
                            {.gpu = timed.gpu,
                             .gpu_details = timed.gpu_details,
                             .calls = timed.calls,
                             .os_calls = timed.os_calls,
                             .into = &times,
                             .threads = stream_threads == StreamThreads::kAhead ? threads : 1});
    if (read && timed.take) timed.take(source, std::move(times));
    return read;
  };
}

std::string TracePath(const TraceSource& source, const std::string& part) {
  return part.empty() || part == source.part ? source.Display() : source.Display() + '#' + part;
}

}  // namespace tacho
