#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "io/block_stream.h"

namespace tacho {

// How a source ended. `defect` is kNone if it is complete; else `text` tells people what is
// missing.
struct StreamEnd {
  StreamDefect defect = StreamDefect::kNone;
  std::string text;
};

// Bytes in order, written into the caller's memory. Files, memory and members of archives are
// sources; a gzip or zstd source decodes another source. A block stream owns a source and the
// memory for its bytes, so they are decompressed directly to the place where the trace's reader
// uses them.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Writes at most `room` bytes to `to` and returns how many. 0 only at the end (or if `room` is
  // 0), but fewer than `room` at any time. Throws only std::bad_alloc.
  virtual size_t Read(char* to, size_t room) = 0;

  // Valid once Read has returned 0.
  [[nodiscard]] virtual const StreamEnd& end() const = 0;

  // How many stored bytes were read so far. May be called from another thread.
  [[nodiscard]] virtual uint64_t stored_bytes() const = 0;

  // Makes the current Read and all later ones return 0 instead of waiting for a pipe. May be called
  // from another thread.
  virtual void Cancel() {}
};

// Reads until it has at least `enough` bytes (or `room`, if that is less) or the source ends.
inline size_t ReadFully(ByteSource& source, char* to, size_t room, size_t enough = SIZE_MAX) {
  size_t size = 0;
  while (size < room && size < enough) {
    const size_t got = source.Read(to + size, room - size);
    if (got == 0) break;
    size += got;
  }
  return size;
}

}  // namespace tacho
