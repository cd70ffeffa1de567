#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/block_stream.h"
#include "io/content_kind.h"

namespace tacho {

// One thing that can be opened as a trace: a file, or a member of an archive.
struct TraceSource {
  std::string path;  // file on disk, as the user gave it or found below what he gave
  std::string
      member;  // name inside the archive, "NAME#2" for the second of a name; "" for a plain file
  uint64_t stored_bytes = 0;  // as BlockStream::stored_bytes counts them; 0 if unknown (a pipe)
  [[nodiscard]] std::string Display() const { return member.empty() ? path : path + ":" + member; }
};

struct Discovery {
  std::vector<TraceSource> traces;  // sorted by Display()
  std::vector<std::string>
      skipped;  // "PATH: why", sorted; folders are silent about text and unrelated JSON
  // Found, a trace by their names, and not readable: empty, or without permission. By path.
  std::vector<Error> failures;
};

// Finds every trace under `paths`: files (taken even if they do not look like a trace, so that the
// reader can say what is wrong), folders (recursively, by content, symbolic links followed but no
// directory twice), archives (.tar, .tar.gz, .tar.zst, .zip by content), "-" for standard input.
// A FIFO that is named is taken unseen, as standard input is; in a folder FIFOs, sockets and
// devices are passed over. A file that is reached a second time through a folder is skipped. Fails
// with kUnreadable when a path does not exist or cannot be read, when a given file is of a kind
// that is no trace (with what to do about it), or when nothing at all was found.
Result<Discovery> FindTraces(const std::vector<std::string>& paths);

// Streams one source. Members of archives are read through libarchive on the fly; those of a
// compressed tar cost the decompression of all that lies in front of them. Fails with kUnreadable,
// also when standard input or a FIFO turns out to hold an archive or another kind that is no trace.
Result<std::unique_ptr<BlockStream>> OpenSource(const TraceSource& source, StreamThreads threads);

}  // namespace tacho
