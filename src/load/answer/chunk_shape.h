#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "load/answer/stream_chunk.h"

namespace tacho {

// A fast reader for the chunks of a stream. The chunks of one engine differ only in the request's
// id, the text and the counts. A shape is an example chunk with a slot for each of these. A later
// chunk with the same bytes between the slots is read by comparison, at a fifth of the cost of
// parsing its JSON and with the same result. A slot matches plain ASCII without escapes, or a whole
// number.
class ChunkShape {
 public:
  // Makes a shape from a parsed chunk. Returns false if the chunk cannot serve as an example: it is
  // an error or the end of an answer, or has several choices or no text.
  bool Learn(std::string_view json, const StreamChunk& chunk);
  // Fills `chunk` as ChunkParser would. Its views point into `json`. False if `json` has another
  // shape.
  bool Match(std::string_view json, StreamChunk& chunk) const;

 private:
  class Walk;
  enum class Slot : uint8_t { kId, kText, kTokenIds, kPromptTokens, kCompletionTokens, kIgnored };
  struct Piece {
    size_t begin, size;  // position in example_ of the bytes before the slot
    Slot slot;
  };

  std::string example_;
  std::vector<Piece> pieces_;
  size_t tail_ = 0;  // where the rest of example_ begins, after the last slot
  int64_t index_ = 0, prompt_tokens_ = -1, cached_tokens_ = -1, completion_tokens_ = -1;
  bool has_role_ = false;
};

}  // namespace tacho
