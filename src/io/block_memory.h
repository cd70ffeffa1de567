#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include "io/block_stream.h"

namespace tacho {

// The memory of one block, with the room around it that BlockStream promises. data() is aligned to
// a cache line. A page takes physical memory only once it is written to.
class BlockMemory {
 public:
  explicit BlockMemory(size_t capacity)
      : capacity_(capacity),
        memory_(static_cast<char*>(::operator new(
            BlockStream::kHeadroom + capacity + BlockStream::kTailroom, kAlignment))) {
    // Vector code reads beyond the end, so those bytes must be initialised.
    std::memset(data() + capacity_, 0, BlockStream::kTailroom);
  }
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;
  ~BlockMemory() { ::operator delete(memory_, kAlignment); }

  [[nodiscard]] char* data() { return memory_ + BlockStream::kHeadroom; }
  [[nodiscard]] size_t capacity() const { return capacity_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  static_assert(BlockStream::kHeadroom % 64 == 0);

  const size_t capacity_;
  char* const memory_;
};

}  // namespace tacho
