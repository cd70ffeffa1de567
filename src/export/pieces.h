#pragma once

#include <string>

#include "base/byte_sink.h"

namespace tacho {

// Collects text in memory and passes it on in pieces of about a megabyte, so a file of any size
// takes only that much memory.
class Pieces {
 public:
  static constexpr size_t kPiece = size_t{1} << 20;

  explicit Pieces(ByteSink& to) : to_(to) {}

  // Append to this text, then call Pass.
  std::string& text() { return text_; }
  // Passes the text on if it has the size of a piece. False: it could not be written, so write no
  // more.
  bool Pass() { return text_.size() < kPiece ? can_write_ : Finish(); }
  // Passes on what is left.
  bool Finish() {
    can_write_ = can_write_ && to_.Write(text_);
    text_.clear();
    return can_write_;
  }
  [[nodiscard]] bool can_write() const { return can_write_; }

 private:
  ByteSink& to_;
  std::string text_;
  bool can_write_ = true;
};

}  // namespace tacho
