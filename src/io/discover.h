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
      member;  // name inside the archive, "NAME#2" for the second of a name; "" for a plain file
  uint64_t stored_bytes = 0;  // as BlockStream::stored_bytes counts them; 0 if unknown (a pipe)
  // By its first bytes; of a pipe, which nobody looked at, the most likely.
  ContentKind kind = ContentKind::kChromeJson;
  std::string part = {};  // the process to read of a recording of several, "pid=1234"; "": all
  [[nodiscard]] bool is_results() const { return kind == ContentKind::kResults; }  // no events
  // Only nsys can open it.
  [[nodiscard]] bool is_nsys_report() const {
    return kind == ContentKind::kNsysReport || kind == ContentKind::kNsysStream;
  }
  [[nodiscard]] std::string Display() const {
    return (member.empty() ? path : path + ":" + member) + (part.empty() ? "" : "#" + part);
  }
};

// A path as "FILE" and "pid=1234" or "pid=1234,machine=2"; without a part: all of it and "".
std::pair<std::string, std::string> SplitPart(const std::string& path);

struct Discovery {
  std::vector<TraceSource> traces;  // sorted by Display()
  std::vector<std::string>
      skipped;  // "PATH: why", sorted; folders are silent about text and unrelated JSON
  // Recordings of how graphs were captured (IsCaptureFile) beside traces, by Display(): not read.
  std::vector<std::string> captures;
  // By path: files named like traces that cannot be read (empty, or no permission).
  std::vector<Error> failures;
};

// Finds every trace under `paths`: files (taken even if they do not look like a trace, so that the
// reader can say what is wrong; of a recording of nsys also one process, as FILE#pid=1234 (which is
// a file of that name, if there is one); results of tacho, its exports and reports of nsys too,
// which a folder gives only if it has no other trace), folders (recursively, by content, symbolic
// links followed but no directory twice), archives (.tar, .tar.gz, .tar.zst, .zip by content), "-"
// for standard input. A given FIFO is taken without a look at its bytes, like standard input; in
// folders, FIFOs, sockets and devices are ignored. A file that is reached a second time through a
// folder is skipped. Fails with kUnreadable when a path does not exist or cannot be read, when a
// given file is not a trace (with what to do), or when nothing was found.
Result<Discovery> FindTraces(const std::vector<std::string>& paths);

// Streams one source. Members of archives are read through libarchive on the fly; for a compressed
// tar this decompresses everything before them. Fails with kUnreadable, also if standard input or a
// FIFO turns out to hold an archive or anything else that is not a trace.
Result<std::unique_ptr<BlockStream>> OpenSource(const TraceSource& source, StreamThreads threads);

}  // namespace tacho
