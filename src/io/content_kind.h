#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// What the first bytes of a file (decompressed) say that it is. Names play no part.
enum class ContentKind : uint8_t {
  kChromeJson,  // "{" or "[" with the look of a trace, possibly cut short
  kOtherJson,   // JSON with the first 64 kB full of something else
  kNsysSqlite,  // an Nsight Systems export
  kNsysReport,  // .nsys-rep, .qdrep: needs nsys to export
  kNcuReport,
  kPerfetto,     // protobuf trace
  kRocprofJson,  // rocprofv3's own JSON
  kTar,          // opened as an archive of traces
  kZip,          // the same
  kForeignPack,  // packed in a way that we do not unpack: xz, bzip2, lz4, 7z, rar, or gzip twice
  kText,         // tables such as vLLM's profiler_out.txt, logs
  kEmpty,        // 0 bytes
  kOther,
};

// How many decompressed bytes a file is judged by.
inline constexpr size_t kSniffBytes = 64 * 1024;

// The kind of a file that starts with `start`: kSniffBytes of it, or all if it is shorter.
ContentKind KindOf(std::string_view start);

// For kinds that are traces in a form which is not read: what the file is and how to come to a
// trace that is ("is an Nsight Systems report: ..."). "" for the other kinds.
std::string RemedyFor(ContentKind kind);

}  // namespace tacho
