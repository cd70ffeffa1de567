#pragma once

#include <cstdint>
#include <vector>

#include "ingest/kineto_json/lenient_json.h"
#include "io/block_stream.h"

namespace tacho::kineto {

// A moving window over a block stream: bytes that are still needed stay in front of the new ones.
//
// Nearly always the bytes to keep are the start of one event and fit the headroom of the next
// block, so only they are copied. If they do not fit, the window collects them in a buffer of its
// own.
class Window {
 public:
  explicit Window(BlockStream& stream) : stream_(stream) {}

  // The reading position. Callers move cursor().p forward; only the window sets `end` and `last`.
  Cursor& cursor() { return cursor_; }
  // Where cursor().p lies in the document.
  [[nodiscard]] uint64_t offset() const {
    return end_offset_ - static_cast<uint64_t>(cursor_.end - cursor_.p);
  }
  [[nodiscard]] uint64_t end_offset() const { return end_offset_; }

  // Makes more bytes available after those from cursor().p on. False at the end of the stream;
  // cursor().last is then set. If there are many bytes already, it at least doubles them, so that
  // reading them again takes linear time in all.
  bool More();

 private:
  BlockStream& stream_;
  std::vector<char> own_;  // has kTailroom bytes after its end
  Cursor cursor_{nullptr, nullptr, false};
  uint64_t end_offset_ = 0;
};

}  // namespace tacho::kineto
