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
  std::string path;  // path on disk, as the user gave it or as found below a given folder
  // Name inside the archive, "NAME#2" for its second member NAME; "" for a plain file.
  std::string member;
  uint64_t stored_bytes = 0;  // as in BlockStream::stored_bytes; 0 if unknown (a pipe)
  // Judged by the first bytes. A pipe is not looked at; this is then the most likely kind.
  ContentKind kind = ContentKind::kChromeJson;
  std::string part = {};  // the process of a recording to read, "pid=1234"; "": all
  // Whether it holds results of tacho analyze rather than events.
  [[nodiscard]] bool is_results() const { return kind == ContentKind::kResults; }
  // Whether only nsys can open it.
  [[nodiscard]] bool is_nsys_report() const {
    return kind == ContentKind::kNsysReport || kind == ContentKind::kNsysStream;
  }
  [[nodiscard]] std::string Display() const {
    return (member.empty() ? path : path + ":" + member) + (part.empty() ? "" : "#" + part);
  }
};

// Splits "FILE#pid=1234" or "FILE#pid=1234,machine=2" into the path and the part. A path that names
// no part gives the whole path and "".
std::pair<std::string, std::string> SplitPart(const std::string& path);

struct Discovery {
  std::vector<TraceSource> traces;  // sorted by Display()
  // "PATH: why", sorted. Text and unrelated JSON in folders are not listed.
  std::vector<std::string> skipped;
  // Recordings of graph capture (IsCaptureFile) that lie beside traces, by their Display(). They
  // are not read.
  std::vector<std::string> captures;
  // Files that have names like traces but cannot be read (empty, or no permission), sorted by path.
  std::vector<Error> failures;
  // "PATH: why" of files of other programs. Said if no trace was found.
  std::vector<std::string> beside;
};

// Finds every trace under `paths`. Each path is one of:
//  - a file: taken even if it does not look like a trace, so that its reader can say what is wrong.
//    tacho's results and exports and nsys reports are taken too;
//  - "FILE#pid=1234": one process of an nsys recording, unless a file has that name;
//  - a folder: searched recursively for files whose content fits. Symbolic links are followed, but
//    no directory is visited twice. tacho's exports, nsys reports and results (unless they stand
//    for a recording's traces) are taken if there is no other trace. Pipes and devices are ignored;
//  - an archive (.tar, .tar.gz, .tar.zst or .zip), recognised by its content;
//  - "-" for standard input, or a FIFO: taken without looking at its bytes.
// A file that a folder reaches a second time is skipped. Fails with kUnreadable if a path does not
// exist or cannot be read, if a given file is not a trace (with what to do), or if nothing was
// found.
Result<Discovery> FindTraces(const std::vector<std::string>& paths);

// As FindTraces, but it is no error if nothing was found.
Result<Discovery> LookForTraces(const std::vector<std::string>& paths);
// What FindTraces says of `paths` where `found` has no trace.
Error NothingFound(const Discovery& found, const std::vector<std::string>& paths);

// Streams one source. A member of an archive is read through libarchive on the fly; in a compressed
// tar this decompresses everything before the member. Fails with kUnreadable, also if standard
// input or a FIFO turns out to hold an archive or anything else that is not a trace.
Result<std::unique_ptr<BlockStream>> OpenSource(const TraceSource& source, StreamThreads threads);

}  // namespace tacho
