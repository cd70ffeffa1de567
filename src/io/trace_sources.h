#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/block_stream.h"
#include "io/content_kind.h"

namespace tacho {

// One thing that can be opened as a trace: a file, or a member of an archive.
struct TraceSource {
  std::string path;  // file on disk, as the user gave it or as found below a given folder
  std::string
      member;  // name inside the archive, "NAME#2" for the second NAME in it; "" for a plain file
  uint64_t stored_bytes = 0;  // as BlockStream::stored_bytes counts them; 0 if unknown (a pipe)
  // By the first bytes. A pipe's bytes are not looked at: this is then the most likely kind.
  ContentKind kind = ContentKind::kChromeJson;
  std::string part = {};  // which process of a recording to read, "pid=1234"; "": all
  [[nodiscard]] bool is_results() const { return kind == ContentKind::kResults; }  // no events
  // Only nsys can open it.
  [[nodiscard]] bool is_nsys_report() const {
    return kind == ContentKind::kNsysReport || kind == ContentKind::kNsysStream;
  }
  [[nodiscard]] std::string Display() const {
    return (member.empty() ? path : path + ":" + member) + (part.empty() ? "" : "#" + part);
  }
};

// Splits "FILE#pid=1234" or "FILE#pid=1234,machine=2" into the path and the part. A path without a
// part gives the whole path and "".
std::pair<std::string, std::string> SplitPart(const std::string& path);

struct Discovery {
  std::vector<TraceSource> traces;  // sorted by Display()
  std::vector<std::string>
      skipped;  // "PATH: why", sorted; leaves out text and unrelated JSON in folders
  // Display() of the recordings of graph capture (IsCaptureFile) beside traces; they are not read.
  std::vector<std::string> captures;
  // Files that are named like traces but cannot be read (empty, or no permission), sorted by path.
  std::vector<Error> failures;
};

// Finds every trace under `paths`. Each path is one of:
//   - a file: taken even if it does not look like a trace, so that the reader can say what is
//     wrong. Results of tacho, its exports and nsys reports are taken too;
//   - "FILE#pid=1234": one process of an nsys recording, unless a file has that name;
//   - a folder: searched recursively, by content, following symbolic links but visiting no
//     directory twice. Results of tacho, its exports and nsys reports in it are taken only if it
//     has no other trace. FIFOs, sockets and devices in it are ignored;
//   - an archive: .tar, .tar.gz, .tar.zst or .zip, by content;
//   - "-" for standard input, or a FIFO: taken without a look at its bytes.
// A file that is reached a second time through a folder is skipped. Fails with kUnreadable when a
// path does not exist or cannot be read, when a given file is not a trace (with what to do), or
// when nothing was found.
Result<Discovery> FindTraces(const std::vector<std::string>& paths);

// Streams one source. Members of archives are read through libarchive on the fly; for a compressed
// tar this decompresses everything before them. Fails with kUnreadable, also if standard input or a
// FIFO turns out to hold an archive or anything else that is not a trace.
Result<std::unique_ptr<BlockStream>> OpenSource(const TraceSource& source, StreamThreads threads);

}  // namespace tacho
