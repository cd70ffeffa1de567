#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "load/answer/stream_chunk.h"

namespace tacho {

// The chunks of one engine differ in a few places alone: the request's name, the text, the counts.
// A shape is one chunk with slots in these places. Another chunk that has every byte between them
// is read by comparing, at a fifth of the cost of taking its JSON apart, and means the same: what a
// slot takes is plain ASCII without an escape, or a whole number. Anything else does not match.
class ChunkShape {
 public:
  // Learns from a chunk that was taken apart. False for one that is no good example: an error, the
  // end of an answer, several choices, no text.
  bool Learn(std::string_view json, const StreamChunk& chunk);
  // Fills `chunk` as ChunkParser would have. Its views point into `json`.
  bool Match(std::string_view json, StreamChunk& chunk) const;

 private:
  class Walk;
  enum class Slot : uint8_t { kId, kText, kTokenIds, kPromptTokens, kCompletionTokens, kIgnored };
  struct Piece {
    size_t begin, size;  // of example_, before the slot
    Slot slot;
  };

  std::string example_;
  std::vector<Piece> pieces_;
  size_t tail_ = 0;  // of example_, behind the last slot
  int64_t index_ = 0, prompt_tokens_ = -1, cached_tokens_ = -1, completion_tokens_ = -1;
  bool has_role_ = false;
};

}  // namespace tacho
