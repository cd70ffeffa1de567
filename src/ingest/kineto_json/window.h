#pragma once

#include <cstdint>
#include <vector>

#include "ingest/kineto_json/lenient_json.h"
#include "io/block_stream.h"

namespace tacho::kineto {

// A moving window over a block stream: bytes that are still needed stay in front of those that
// come.
//
// Nearly always what is kept is the start of one event and fits the headroom of the next block, so
// nothing but those bytes is copied. Longer stretches are gathered in a buffer of the window's own.
class Window {
 public:
  explicit Window(BlockStream& stream) : stream_(stream) {}

  // Where reading is. Callers move cursor().p forward; the end and `last` are the window's.
  Cursor& cursor() { return cursor_; }
  // Place of cursor().p in the document.
  [[nodiscard]] uint64_t offset() const {
    return end_offset_ - static_cast<uint64_t>(cursor_.end - cursor_.p);
  }
  [[nodiscard]] uint64_t end_offset() const { return end_offset_; }

  // Brings more bytes behind those from cursor().p on. False when there are none (cursor().last is
  // then set). A long stretch at least doubles, so that reading it again and again stays linear.
  bool More();

 private:
  BlockStream& stream_;
  std::vector<char> own_;  // with kTailroom behind the end
  Cursor cursor_{nullptr, nullptr, false};
  uint64_t end_offset_ = 0;
};

}  // namespace tacho::kineto
