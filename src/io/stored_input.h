#pragma once

#include <cstring>
#include <memory>
#include <string_view>

#include "io/byte_source.h"

namespace tacho {

// A window over the stored bytes of a decoder: what was read but not yet decoded.
class StoredInput {
 public:
  static constexpr size_t kSize = 256 * 1024;
  static constexpr size_t kMaxPutBack = 16;

  explicit StoredInput(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)),
        buffer_(std::make_unique_for_overwrite<char[]>(kMaxPutBack + kSize)) {}

  [[nodiscard]] const char* data() const { return buffer_.get() + begin_; }
  [[nodiscard]] size_t size() const { return end_ - begin_; }
  void Take(size_t size) { begin_ += size; }

  // Makes size() > 0 unless the source has ended.
  bool Fill() {
    if (begin_ < end_) return true;
    begin_ = kMaxPutBack;
    end_ = begin_ + source_->Read(buffer_.get() + begin_, kSize);
    read_ += size();
    return begin_ < end_;
  }

  // Takes the next byte; -1 at the end.
  int NextByte() {
    if (!Fill()) return -1;
    return static_cast<unsigned char>(buffer_[begin_++]);
  }

  // Puts back the bytes that were taken last, at most kMaxPutBack, even after a refill.
  void PutBack(std::string_view bytes) {
    begin_ -= bytes.size();
    std::memcpy(buffer_.get() + begin_, bytes.data(), bytes.size());
  }

  // The position of data() in the stored bytes.
  [[nodiscard]] uint64_t position() const { return read_ - size(); }
  [[nodiscard]] ByteSource& source() { return *source_; }
  [[nodiscard]] const ByteSource& source() const { return *source_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = kMaxPutBack;
  size_t end_ = kMaxPutBack;
  uint64_t read_ = 0;
};

}  // namespace tacho
