#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// What was wrong with a stream that nevertheless gave bytes.
enum class StreamDefect : uint8_t {
  kNone,
  kTruncated,     // compressed data ended before its trailer
  kCorrupt,       // bad block, checksum or length: bytes before it are good
  kTrailingJunk,  // bytes after the last compressed member that are neither a member nor all zeros
  kReadFailed,    // the system refused to deliver the rest (also: the file's size changed)
};

// A piece of a stream, owned by the stream and valid until the next call of Next. The reader may
// write to it, to kHeadroom bytes before it and to kTailroom bytes after it.
struct Block {
  char* data = nullptr;
  size_t size = 0;
};

// Bytes in order, decompressed, one block at a time.
//
//   while (true) {
//     const Block block = stream.Next();
//     if (block.size == 0) break;   // the end, good or bad: see defect()
//   }
class BlockStream {
 public:
  // A reader of records moves a record's beginning, cut off at the end of a block, in front of the
  // next block.
  static constexpr size_t kHeadroom = 64 * 1024;
  // Vector code may read (but not use) this many bytes past the end.
  static constexpr size_t kTailroom = 64;

  virtual ~BlockStream() = default;
  virtual Block Next() = 0;

  // After the end: what cut the stream short, with a sentence for people ("byte 51576: ..."). Not
  // an error: the bytes before it are good.
  [[nodiscard]] virtual StreamDefect defect() const = 0;
  [[nodiscard]] virtual const std::string& defect_text() const = 0;
  // Stored (compressed) bytes consumed so far, for progress. May be called from another thread.
  [[nodiscard]] virtual uint64_t stored_bytes() const = 0;
};

// A block stream over memory that the caller keeps alive; blocks of at most `block_size`. For
// tests, fuzzing and small members.
std::unique_ptr<BlockStream> StreamOfMemory(std::string_view bytes, size_t block_size = 1 << 20);

// Which thread reads and decompresses a stream.
enum class StreamThreads {
  kInline,
  kAhead
};  // kAhead: reading and inflating run on a thread of their own

// Opens a file ("-" is standard input), detects by its first bytes whether it is plain, gzip (any
// number of members) or zstd, and streams the plain bytes. A file that is still being written is
// read up to its size at the time of opening, and its growth is reported as kReadFailed. A FIFO is
// read to its end. Fails with kUnreadable (missing, no permission, a folder, a device, a socket)
// and says which.
Result<std::unique_ptr<BlockStream>> OpenStream(const std::string& path, StreamThreads threads);

}  // namespace tacho
