// Text of a Kineto trace, written fast. Its two line layouts are those of simulate/kineto_text.h.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace tacho::bench {

// Appends to a file through one buffer. Without a file it only counts the bytes.
class Sink {
 public:
  explicit Sink(std::FILE* file) : file_(file), buffer_(std::make_unique<char[]>(kCapacity)) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void Text(std::string_view text) {
    if (text.empty()) return;
    if (text.size() > kCapacity - used_) Flush();
    std::memcpy(buffer_.get() + used_, text.data(), text.size());
    used_ += text.size();
  }

  void Number(std::int64_t value) {
    Reserve();
    Advance(std::to_chars(End(), End() + kLongestNumber, value).ptr);
  }

  void Real(double value) {
    Reserve();
    Advance(std::to_chars(End(), End() + kLongestNumber, value).ptr);
  }

  // A real number with six decimals, given in millionths.
  void Millionths(std::int64_t value) { Fixed(value, 6); }

  // Nanoseconds as Kineto prints them: microseconds with three decimals.
  void Microseconds(std::int64_t ns) { Fixed(ns, 3); }

  // False when the disk is full or the reader has gone.
  bool Flush() {
    written_ += static_cast<std::int64_t>(used_);
    if (file_ != nullptr && std::fwrite(buffer_.get(), 1, used_, file_) != used_) failed_ = true;
    used_ = 0;
    return !failed_;
  }

  bool failed() const { return failed_; }
  std::int64_t bytes() const { return written_ + static_cast<std::int64_t>(used_); }

 private:
  static constexpr std::size_t kCapacity = 1 << 20;
  static constexpr std::size_t kLongestNumber = 32;

  char* End() { return buffer_.get() + used_; }
  void Advance(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.get()); }
  void Reserve() {
    if (kLongestNumber > kCapacity - used_) Flush();
  }

  void Fixed(std::int64_t value, int decimals) {
    std::int64_t unit = 1;
    for (int i = 0; i < decimals; ++i) unit *= 10;
    Number(value / unit);
    Reserve();
    char* end = End();
    *end++ = '.';
    std::int64_t rest = value % unit;
    for (int i = decimals - 1; i >= 0; --i, rest /= 10) {
      end[i] = static_cast<char>('0' + rest % 10);
    }
    Advance(end + decimals);
  }

  std::FILE* file_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  std::int64_t written_ = 0;
  bool failed_ = false;
};

}  // namespace tacho::bench
