#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "io/byte_source.h"

namespace tacho {

// A window over the stored bytes that a decoder has still to decode.
//
// If the bytes contain a run of kLongZeros or more zeros, the window ends before it and the next
// window begins with it. So a decoder can check what follows before it takes zeros for data
// (gzip_source.h).
class StoredInput {
 public:
  static constexpr size_t kSize = 256 * 1024;
  static constexpr size_t kMaxPutBack = 16;
  static constexpr size_t kLongZeros = 16;

  explicit StoredInput(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)),
        buffer_(std::make_unique_for_overwrite<char[]>(kDataAt + kSize)) {}

  [[nodiscard]] const char* data() const { return buffer_.get() + begin_; }
  [[nodiscard]] size_t size() const { return end_ - begin_; }
  void Take(size_t size) { begin_ += size; }

  // Ensures size() > 0, unless the source has ended.
  bool Fill() {
    if (begin_ < end_) return true;
    while (!ended_ && read_end_ - begin_ < kLongZeros) ReadMore();
    OpenWindow();
    return begin_ < end_;
  }

  // Whether a long run of zeros begins at data().
  [[nodiscard]] bool at_zeros() const { return begin_ < end_ && begin_ == zeros_at_; }

  // Takes the next byte; returns -1 at the end.
  int NextByte() {
    if (!Fill()) return -1;
    return static_cast<unsigned char>(buffer_[begin_++]);
  }

  // Puts back the bytes taken last, at most kMaxPutBack, even if more were read since.
  void PutBack(std::string_view bytes) {
    begin_ -= bytes.size();
    std::memcpy(buffer_.get() + begin_, bytes.data(), bytes.size());
  }

  // Where data() lies in the stored bytes.
  [[nodiscard]] uint64_t position() const { return read_ - (read_end_ - begin_); }
  [[nodiscard]] ByteSource& source() { return *source_; }
  [[nodiscard]] const ByteSource& source() const { return *source_; }

 private:
  static constexpr size_t kMaxRest = kLongZeros - 1;
  static constexpr size_t kDataAt = kMaxPutBack + kMaxRest;
  static constexpr size_t kNone = SIZE_MAX;

  // Moves the few remaining bytes in front of the new ones.
  void ReadMore() {
    const size_t rest = read_end_ - begin_;
    std::memmove(buffer_.get() + kDataAt - rest, buffer_.get() + begin_, rest);
    begin_ = end_ = kDataAt - rest;
    const size_t got = source_->Read(buffer_.get() + kDataAt, kSize);
    ended_ = got == 0;
    read_ += got;
    read_end_ = kDataAt + got;
  }

  // Ends the window before the next long run of zeros, and before zeros at the end that may become
  // one. A window that begins with zeros also holds the bytes after them.
  void OpenWindow() {
    const auto is_zero = [&](size_t at) { return buffer_[at] == '\0'; };
    size_t at = begin_;
    while (at < read_end_ && is_zero(at)) ++at;
    zeros_at_ = at - begin_ >= kLongZeros ? begin_ : kNone;
    // Every long run contains one of these indices.
    for (size_t i = at + kLongZeros - 1; i < read_end_; i += kLongZeros) {
      if (!is_zero(i)) continue;
      size_t first = i, last = i + 1;
      while (is_zero(first - 1)) --first;
      while (last < read_end_ && is_zero(last)) ++last;
      if (last - first < kLongZeros) continue;
      end_ = first;
      return;
    }
    end_ = read_end_;
    while (!ended_ && end_ > at && is_zero(end_ - 1)) --end_;
  }

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = kDataAt;
  size_t end_ = kDataAt;       // end of the window
  size_t read_end_ = kDataAt;  // end of the bytes that were read
  size_t zeros_at_ = kNone;
  bool ended_ = false;
  uint64_t read_ = 0;
};

}  // namespace tacho
