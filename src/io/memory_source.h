#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "io/byte_source.h"

namespace tacho {

// A source of bytes that the caller keeps alive. Read returns at most `piece` bytes at a time.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes, size_t piece = SIZE_MAX)
      : bytes_(bytes), piece_(std::max<size_t>(piece, 1)) {}

  size_t Read(char* to, size_t room) override {
    const size_t at = position_.load(std::memory_order_relaxed);
    const size_t size = std::min({room, piece_, bytes_.size() - at});
    if (size > 0) std::memcpy(to, bytes_.data() + at, size);
    position_.store(at + size, std::memory_order_relaxed);
    return size;
  }
  [[nodiscard]] const StreamEnd& end() const override { return end_; }
  [[nodiscard]] uint64_t stored_bytes() const override {
    return position_.load(std::memory_order_relaxed);
  }

 private:
  const std::string_view bytes_;
  const size_t piece_;
  std::atomic<size_t> position_ = 0;
  const StreamEnd end_;
};

}  // namespace tacho
