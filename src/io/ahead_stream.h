#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "io/block_memory.h"
#include "io/block_stream.h"
#include "io/byte_source.h"

namespace tacho {

// Reads and decodes on a thread of its own, up to kBlocks - 1 blocks ahead of the reader.
//
// The blocks form a ring: the reader holds one, the thread writes to another, the others are full
// or free. Blocks are counted from 0, and block i lies in memory i % kBlocks. So three counters
// describe the whole state:
//
//  released_ <= taken_ <= filled_ <= released_ + kBlocks     taken_ - released_ is 0 or 1
//
// If the source throws, Next first returns the blocks that were read before, then throws the same
// exception.
class AheadStream : public BlockStream {
 public:
  static constexpr size_t kBlocks = 5;

  AheadStream(std::unique_ptr<ByteSource> source, size_t block_bytes);
  AheadStream(const AheadStream&) = delete;
  AheadStream& operator=(const AheadStream&) = delete;
  ~AheadStream() override;

  Block Next() override;
  [[nodiscard]] StreamDefect defect() const override { return end_.defect; }
  [[nodiscard]] const std::string& defect_text() const override { return end_.text; }
  [[nodiscard]] uint64_t stored_bytes() const override { return source_->stored_bytes(); }

 private:
  struct Slot {
    std::unique_ptr<BlockMemory> memory;  // the thread allocates it when it first needs it
    size_t size = 0;
  };

  void Run();
  bool FillNext();

  std::unique_ptr<ByteSource> source_;
  const size_t block_bytes_;
  std::array<Slot, kBlocks> ring_;

  std::mutex mutex_;
  // Only one side waits at a time: if the ring is full, or if it is empty.
  std::condition_variable changed_;
  uint64_t filled_ = 0;    // blocks that the thread has filled
  uint64_t taken_ = 0;     // blocks that the reader has got
  uint64_t released_ = 0;  // blocks that the reader no longer uses
  bool stop_ = false;      // the reader needs no more blocks
  bool done_ = false;      // the thread will fill no more
  std::exception_ptr failure_;

  StreamEnd end_;  // the source's end, once the reader has reached it
  std::thread thread_;
};

}  // namespace tacho
