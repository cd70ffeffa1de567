#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// What was wrong with a stream that gave bytes all the same.
enum class StreamDefect : uint8_t {
  kNone,
  kTruncated,  // the compressed data ended before its trailer
  // A bad block, checksum or length; the bytes before it are good.
  kCorrupt,
  // After the last compressed member come bytes that are neither a member nor all zeros.
  kTrailingJunk,
  // The system did not deliver the rest, or the size of the file changed.
  kReadFailed,
};

// A piece of a stream. The stream owns it, and it is valid until the next call of Next. The reader
// may write to it, to kHeadroom bytes before it and to kTailroom bytes after it.
struct Block {
  char* data = nullptr;
  size_t size = 0;
};

// Bytes in order, decompressed, one block at a time.
//
//  while (true) {
//    const Block block = stream.Next();
//    if (block.size == 0) break;   // the end, complete or not: see defect()
//  }
class BlockStream {
 public:
  // If a record is cut off at the end of a block, its reader copies the beginning in front of the
  // next block, into this many bytes of room.
  static constexpr size_t kHeadroom = 64 * 1024;
  // Vector code may read (but not use) this many bytes beyond the end of a block.
  static constexpr size_t kTailroom = 64;

  virtual ~BlockStream() = default;
  virtual Block Next() = 0;

  // After the end: what cut the stream short, and a sentence for people about it ("byte 51576:
  // ..."). This is not an error: the bytes before it are good.
  [[nodiscard]] virtual StreamDefect defect() const = 0;
  [[nodiscard]] virtual const std::string& defect_text() const = 0;
  // How many stored (compressed) bytes were read so far, for progress. May be called from another
  // thread.
  [[nodiscard]] virtual uint64_t stored_bytes() const = 0;
};

// A stream over memory that the caller keeps alive, in blocks of at most `block_size`. For tests,
// fuzzing and small members.
std::unique_ptr<BlockStream> StreamOfMemory(std::string_view bytes, size_t block_size = 1 << 20);

// Which thread reads and decompresses a stream. kInline: the caller's. kAhead: one of its own.
enum class StreamThreads { kInline, kAhead };

// Opens a file ("-" is standard input) and streams its plain bytes. Its first bytes show whether it
// is plain, gzip (any number of members) or zstd. A file that is still being written is read up to
// the size that it had when it was opened; if it grows, this is reported as kReadFailed. A FIFO is
// read to its end. Fails with kUnreadable, and says why: missing, no permission, a folder, a
// device, a socket.
Result<std::unique_ptr<BlockStream>> OpenStream(const std::string& path, StreamThreads threads);

}  // namespace tacho
