#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "load/answer/stream_chunk.h"

namespace tacho {

// The chunks of one engine differ only in a few places: the request's name, the text, the counts.
// A shape is one chunk with slots in these places. A later chunk with the same bytes between the
// slots is read by comparison, at a fifth of the cost of parsing its JSON, with the same result. A
// slot takes plain ASCII without escapes, or a whole number; anything else does not match.
class ChunkShape {
 public:
  // Learns from a parsed chunk. False if it is not a good example: an error, the end of an answer,
  // several choices, or no text.
  bool Learn(std::string_view json, const StreamChunk& chunk);
  // Fills `chunk` as ChunkParser would have. Its views point into `json`.
  bool Match(std::string_view json, StreamChunk& chunk) const;

 private:
  class Walk;
  enum class Slot : uint8_t { kId, kText, kTokenIds, kPromptTokens, kCompletionTokens, kIgnored };
  struct Piece {
    size_t begin, size;  // the bytes of example_ before the slot
    Slot slot;
  };

  std::string example_;
  std::vector<Piece> pieces_;
  size_t tail_ = 0;  // where example_ goes on after the last slot
  int64_t index_ = 0, prompt_tokens_ = -1, cached_tokens_ = -1, completion_tokens_ = -1;
  bool has_role_ = false;
};

}  // namespace tacho
