#pragma once

#include <cstdint>
#include <vector>

#include "ingest/kineto_json/lenient_json.h"
#include "io/block_stream.h"

namespace tacho::kineto {

// A moving window over a block stream: bytes that are still needed stay before the new ones.
//
// Nearly always the kept bytes are the start of one event and fit the headroom of the next block;
// then only they are copied. Longer ones are gathered in the window's own buffer.
class Window {
 public:
  explicit Window(BlockStream& stream) : stream_(stream) {}

  // The reading position. Callers move cursor().p forward; the window alone sets `end` and `last`.
  Cursor& cursor() { return cursor_; }
  // Place of cursor().p in the document.
  [[nodiscard]] uint64_t offset() const {
    return end_offset_ - static_cast<uint64_t>(cursor_.end - cursor_.p);
  }
  [[nodiscard]] uint64_t end_offset() const { return end_offset_; }

  // Appends more bytes to those from cursor().p on. False at the end of the stream; cursor().last
  // is then set. If there are many bytes, at least doubles them, so that rereading takes linear
  // time.
  bool More();

 private:
  BlockStream& stream_;
  std::vector<char> own_;  // with kTailroom after the end
  Cursor cursor_{nullptr, nullptr, false};
  uint64_t end_offset_ = 0;
};

}  // namespace tacho::kineto
