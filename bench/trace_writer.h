// Text of a Kineto trace, written fast: a buffered sink and the two line layouts of the format.
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

// What stands between the fields of an event.
struct Layout {
  std::string_view complete;  // up to the category of a complete event (ph X)
  std::string_view name, pid, tid, ts, dur, args;
  std::string_view flow_start, flow_end;  // up to the id of a flow event
  std::string_view flow_pid, flow_tid, flow_ts;
  std::string_view flow_start_close, flow_end_close;
  std::string_view metadata, metadata_ts, metadata_pid, metadata_tid, metadata_args;
  std::string_view close;  // after the args of any event
  bool metadata_first;
};

// Kineto until early 2026 (torch up to 2.11): several keys on a line.
inline constexpr Layout kLayoutA = {
    .complete = "\n  {\n    \"ph\": \"X\", \"cat\": \"",
    .name = "\", \"name\": \"",
    .pid = "\", \"pid\": ",
    .tid = ", \"tid\": ",
    .ts = ",\n    \"ts\": ",
    .dur = ", \"dur\": ",
    .args = ",\n    \"args\": {\n      ",
    .flow_start = "\n  {\n    \"ph\": \"s\", \"id\": ",
    .flow_end = "\n  {\n    \"ph\": \"f\", \"id\": ",
    .flow_pid = ", \"pid\": ",
    .flow_tid = ", \"tid\": ",
    .flow_ts = ", \"ts\": ",
    .flow_start_close = ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },",
    .flow_end_close = ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  },",
    .metadata = "\n  {\n    \"name\": \"",
    .metadata_ts = "\", \"ph\": \"M\", \"ts\": ",
    .metadata_pid = ", \"pid\": ",
    .metadata_tid = ", \"tid\": ",
    .metadata_args = ",\n    \"args\": {\n      \"",
    .close = "\n    }\n  },",
    .metadata_first = false,
};

// Kineto since then (torch 2.13): one key on a line, optional parts on a line of their own.
inline constexpr Layout kLayoutB = {
    .complete = "\n  {\n    \"ph\": \"X\",\n    \"cat\": \"",
    .name = "\",\n    \"name\": \"",
    .pid = "\",\n    \"pid\": ",
    .tid = ",\n    \"tid\": ",
    .ts = ",\n    \"ts\": ",
    .dur = ",\n    \"dur\": ",
    .args = "\n    ,\n    \"args\": {\n      ",
    .flow_start = "\n  {\n    \"ph\": \"s\",\n    \"id\": ",
    .flow_end = "\n  {\n    \"ph\": \"f\",\n    \"id\": ",
    .flow_pid = ",\n    \"pid\": ",
    .flow_tid = ",\n    \"tid\": ",
    .flow_ts = ",\n    \"ts\": ",
    .flow_start_close = ",\n    \"cat\": \"ac2g\",\n    \"name\": \"ac2g\"\n    \n  },",
    .flow_end_close =
        ",\n    \"cat\": \"ac2g\",\n    \"name\": \"ac2g\"\n    , \"bp\": \"e\"\n  },",
    .metadata = "\n  {\n    \"ph\": \"M\",\n    \"name\": \"",
    .metadata_ts = "\",\n    \"ts\": ",
    .metadata_pid = ",\n    \"pid\": ",
    .metadata_tid = ",\n    \"tid\": ",
    .metadata_args = ",\n    \"args\": {\n      \"",
    .close = "\n    }\n  },",
    .metadata_first = true,
};

}  // namespace tacho::bench
