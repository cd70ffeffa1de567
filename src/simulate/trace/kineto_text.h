#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_sink.h"

namespace tacho::simulate {

// The exact text that Kineto's JSON has between the fields of an event.
struct KinetoLayout {
  std::string_view complete;  // from a complete event's start (ph X) to its category
  std::string_view name, pid, tid, ts, dur, args;
  std::string_view flow_start, flow_end;  // from a flow event's start to its id
  std::string_view flow_pid, flow_tid, flow_ts;
  std::string_view flow_start_close, flow_end_close;
  std::string_view metadata, metadata_ts, metadata_pid, metadata_tid, metadata_args;
  std::string_view close;      // after the args of each event
  bool metadata_first = true;  // metadata come before the other events; else after them
};
// Until early 2026 (up to torch 2.11) Kineto wrote several keys per line; since then one per line.
enum class KinetoDialect : uint8_t { kManyKeysALine, kOneKeyALine };
const KinetoLayout& LayoutOf(KinetoDialect dialect);

// Collects text and passes it to a sink kBlock bytes at a time.
class TraceText {
 public:
  explicit TraceText(ByteSink& sink) : sink_(sink) { buffer_.reserve(kBlock + 4096); }

  void Text(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBlock) Flush();
  }
  void Number(int64_t value) {
    char digits[24];
    Text({digits, static_cast<size_t>(std::to_chars(digits, digits + 24, value).ptr - digits)});
  }
  // Writes a number with `decimals` digits after the point. `value` counts units of the last digit.
  void Fixed(int64_t value, int decimals) {
    int64_t unit = 1;
    for (int i = 0; i < decimals; ++i) unit *= 10;
    if (value < 0) Text("-");
    const int64_t size = value < 0 ? -value : value;
    Number(size / unit);
    std::string rest(static_cast<size_t>(decimals) + 1, '.');
    int64_t left = size % unit;
    for (size_t i = static_cast<size_t>(decimals); i > 0; --i, left /= 10) {
      rest[i] = static_cast<char>('0' + left % 10);
    }
    Text(rest);
  }
  // Writes a time as Kineto does: microseconds with three decimals.
  void Microseconds(int64_t ns) { Fixed(ns, 3); }

  bool Flush() {
    if (!failed_ && !sink_.Write(buffer_)) failed_ = true;
    buffer_.clear();
    return !failed_;
  }
  bool failed() const { return failed_; }

 private:
  static constexpr size_t kBlock = 256 << 10;
  ByteSink& sink_;
  std::string buffer_;
  bool failed_ = false;
};

}  // namespace tacho::simulate
