#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// The kind of a file by its first bytes (decompressed), never by its name.
enum class ContentKind : uint8_t {
  kChromeJson,  // "{" or "[" that looks like a trace, possibly truncated
  kResults,     // what `tacho analyze --json` writes
  kOtherJson,   // JSON whose first 64 kB do not look like a trace
  kNsysSqlite,  // an Nsight Systems export
  kSqlite,      // another SQLite database, or an export whose first 64 kB name no table of nsys
  kNsysReport,  // .nsys-rep, .qdrep: needs nsys to export
  kNsysStream,  // .qdstrm: needs nsys to convert it to a report and to export that
  kNcuReport,
  kPerfetto,     // protobuf trace
  kRocprofJson,  // rocprofv3's own JSON
  kForeign,      // a profile of another tool: foreign_files.h
  kForeignFile,  // a table, or another file known to be no trace: foreign_files.h
  kLfsPointer,   // a Git LFS pointer in place of the file
  kTar,          // opened as an archive of traces
  kZip,          // the same
  kForeignPack,  // a packing that we do not support: xz, bzip2, lz4, 7z, rar, or gzip twice
  kText,         // tables such as vLLM's profiler_out.txt, logs
  kEmpty,        // 0 bytes
  kOther,
};

// The first bytes of every JSON that `tacho export` writes.
inline constexpr std::string_view kKinetoExportBegin = "{\"exporter\":\"tacho\"";

// How many decompressed bytes decide the kind.
inline constexpr size_t kSniffBytes = 64 * 1024;

// The kind of a file that starts with `start`: kSniffBytes of it, or all if it is shorter.
ContentKind KindOf(std::string_view start);

// For traces in a format that tacho does not read: what the file is and how to get one that it
// reads ("is an Nsight Systems report: ..."). "" for the other kinds. `start`: as for KindOf; only
// the kinds of foreign_files.h need it.
std::string RemedyFor(ContentKind kind, std::string_view start = {});

}  // namespace tacho
