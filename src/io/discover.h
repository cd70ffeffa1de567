#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/block_stream.h"

namespace tacho {

// What the first bytes of a file (decompressed) say that it is. Names play no part.
enum class ContentKind : uint8_t {
  kChromeJson,   // "{" or "[" with the look of a trace, possibly cut short
  kOtherJson,    // JSON with the first 64 kB full of something else
  kNsysSqlite,   // an Nsight Systems export
  kNsysReport,   // .nsys-rep, .qdrep: needs nsys to export
  kNcuReport,
  kPerfetto,     // protobuf trace
  kText,         // tables such as vLLM's profiler_out.txt, logs
  kEmpty,        // 0 bytes
  kOther,
};

// One thing that can be opened as a trace: a file, or a member of an archive.
struct TraceSource {
  std::string path;    // file on disk, as the user gave it or found below what he gave
  std::string member;  // name inside the archive; "" for a plain file
  uint64_t stored_bytes = 0;
  [[nodiscard]] std::string Display() const { return member.empty() ? path : path + ":" + member; }
};

struct Discovery {
  std::vector<TraceSource> traces;   // sorted by Display()
  std::vector<std::string> skipped;  // "PATH: why", sorted; folders are silent about text and unrelated JSON
};

// Finds every trace under `paths`: files (taken even if they do not look like a trace, so that the
// reader can say what is wrong), folders (recursively, by content, symbolic links followed but no
// directory twice), archives (.tar, .tar.gz, .tar.zst, .zip by content), "-" for standard input.
// Fails with kUnreadable when a path does not exist or cannot be read, when a given file is of a kind that
// is no trace (with what to do about it), or when nothing at all was found.
Result<Discovery> FindTraces(const std::vector<std::string>& paths);

// Streams one source. Members of archives are read through libarchive on the fly.
Result<std::unique_ptr<BlockStream>> OpenSource(const TraceSource& source, StreamThreads threads);

}  // namespace tacho
