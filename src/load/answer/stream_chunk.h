#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

struct ChunkChoice {
  int64_t index = 0;
  std::string_view text;  // text of the answer, its reasoning or its tool calls
  // `text` holds everything so far, not only what is new (SGLang's /generate).
  bool from_start = false;
  bool role_only = false;  // the first chunk of a chat: no token
  int64_t token_ids = -1;  // how many; -1: none given
  std::string_view finish_reason;
};

// One event of a streamed answer, or a whole answer that was not streamed. Views are valid while
// the parsed text lives, and until the next Parse.
struct StreamChunk {
  std::string_view id;
  std::vector<ChunkChoice> choices;
  // -1: not reported. From SGLang's /generate and continuous_usage_stats they are running totals.
  int64_t prompt_tokens = -1, completion_tokens = -1, cached_tokens = -1;
  bool bad_usage = false;  // a count that is not a number, negative or implausibly large
  bool has_error = false;
  std::string error;  // with its type and code, if any
};

// Parses the JSON of OpenAI's completions and chat and of SGLang's /generate, as vLLM and SGLang
// write it, with simdjson. Ignores unknown keys. Reads a chunk that resembles an earlier one by its
// shape (chunk_shape.h), with the same result.
class ChunkParser {
 public:
  ChunkParser();
  ~ChunkParser();
  ChunkParser(ChunkParser&&) noexcept;

  // The chunk is valid until the next Parse. nullptr if `json` is not a JSON object.
  const StreamChunk* Parse(std::string_view json);
  // The same without shapes. Returns false if `json` is not a JSON object: then `chunk` is
  // undefined.
  bool ParseWhole(std::string_view json, StreamChunk& chunk);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace tacho
