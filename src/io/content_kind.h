#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// What a file is, judged by its first bytes (decompressed), never by its name.
enum class ContentKind : uint8_t {
  kChromeJson,  // starts with "{" or "[" and looks like a trace; may be truncated
  kResults,     // output of `tacho analyze --json`
  kOtherJson,   // JSON whose first 64 kB do not look like a trace
  kNsysSqlite,  // an Nsight Systems export
  // Another SQLite database, or an nsys export whose first 64 kB name none of nsys's tables.
  kSqlite,
  kNsysReport,  // .nsys-rep, .qdrep: needs nsys to export it
  kNsysStream,  // .qdstrm: needs nsys to convert it to a report and then export it
  kNcuReport,
  kPerfetto,     // a Perfetto protobuf trace
  kRocprofJson,  // rocprofv3's own JSON
  kForeign,      // another tool's profile (foreign_files.h)
  // A table or another file that is known to be no trace (foreign_files.h).
  kForeignFile,
  kLfsPointer,  // a Git LFS pointer in place of the file
  kTar,         // opened as an archive of traces
  kZip,         // likewise
  // Compressed in a way that tacho does not support: xz, bzip2, lz4, 7z, rar, or gzip inside gzip.
  kForeignPack,
  kText,   // logs, and tables such as vLLM's profiler_out.txt
  kEmpty,  // 0 bytes
  kOther,
};

// Every JSON that `tacho export` writes begins with these bytes.
inline constexpr std::string_view kKinetoExportBegin = "{\"exporter\":\"tacho\"";

// The kind depends on this many decompressed bytes.
inline constexpr size_t kSniffBytes = 64 * 1024;

// The kind of a file. `start`: its first kSniffBytes bytes, or all if it is shorter.
ContentKind KindOf(std::string_view start);

// For a trace in a format that tacho does not read: what the file is, and how to get one that tacho
// reads ("is an Nsight Systems report: ..."). "" for other kinds. `start`: as for KindOf; needed
// only for the kinds of foreign_files.h.
std::string RemedyFor(ContentKind kind, std::string_view start = {});

}  // namespace tacho
