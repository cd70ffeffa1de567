#include "io/archive_open.h"
#include "io/content_kind.h"
#include "io/decode.h"
#include "io/file_source.h"
#include "io/peeked_source.h"
#include "io/source_stream.h"
#include "io/trace_sources.h"

namespace tacho {
namespace {

// Opens a pipe. FindTraces does not look at pipes, because that would consume their bytes, so this
// refuses a pipe that does not hold a trace.
Result<std::unique_ptr<BlockStream>> OpenUnseen(std::unique_ptr<ByteSource> stored,
                                                const std::string& name, StreamThreads threads) {
  auto plain = std::make_unique<PeekedSource>(Decode(std::move(stored)));
  const std::string_view start = plain->Peek(kSniffBytes);
  const ContentKind kind = KindOf(start);
  if (kind == ContentKind::kTar || kind == ContentKind::kZip) {
    return FailAt(ErrorKind::kUnreadable, name,
                  "is an archive, which cannot be read from a pipe: save it to a file and name "
                  "that");
  }
  if (kind == ContentKind::kNsysSqlite || kind == ContentKind::kSqlite) {
    return FailAt(ErrorKind::kUnreadable, name,
                  "is a SQLite database, which cannot be read from a pipe: save it to a file "
                  "and name that");
  }
  if (kind == ContentKind::kNsysReport || kind == ContentKind::kNsysStream) {
    return FailAt(ErrorKind::kUnreadable, name,
                  "is an Nsight Systems report, which cannot be read from a pipe: save it "
                  "to a file and name that");
  }
  if (const std::string remedy = RemedyFor(kind, start); !remedy.empty()) {
    return FailAt(ErrorKind::kUnreadable, name, remedy);
  }
  return StreamOfSource(std::move(plain), threads, kBlockBytes);
}

}  // namespace

Result<std::unique_ptr<BlockStream>> OpenSource(const TraceSource& source, StreamThreads threads) {
  if (!source.member.empty()) {
    TACHO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> member,
                           OpenArchiveMember(source.path, source.member));
    return DecodeStream(std::move(member), threads);
  }
  TACHO_ASSIGN_OR_RETURN(std::unique_ptr<FileSource> file, FileSource::Open(source.path));
  const bool seen = file->is_regular() && source.path != "-";
  if (seen) return DecodeStream(std::move(file), threads);
  return OpenUnseen(std::move(file), source.path == "-" ? "standard input" : source.path, threads);
}

}  // namespace tacho
