#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

struct ChunkChoice {
  int64_t index = 0;
  std::string_view text;  // of the answer, its reasoning or its tool calls
  // `text` holds the whole answer so far, not only the new part (SGLang's /generate).
  bool from_start = false;
  bool role_only = false;  // the first chunk of a chat, which has no token
  int64_t token_ids = -1;  // how many ids the chunk holds; -1: none given
  std::string_view finish_reason;
};

// One event of a streamed answer, or a whole answer that was not streamed. Its views are valid
// while the parsed text lives and until the next Parse.
struct StreamChunk {
  std::string_view id;
  std::vector<ChunkChoice> choices;
  // -1: not reported. They are running totals in SGLang's /generate and with
  // continuous_usage_stats.
  int64_t prompt_tokens = -1, completion_tokens = -1, cached_tokens = -1;
  bool bad_usage = false;  // a reported count is no number, negative or implausibly large
  bool has_error = false;
  std::string error;  // with the error's type and code, if any
};

// Parses the JSON of OpenAI's completions and chat and of SGLang's /generate, as vLLM and SGLang
// write it, with simdjson. Ignores unknown keys. Reads a chunk that resembles an earlier one faster
// (chunk_shape.h), with the same result.
class ChunkParser {
 public:
  ChunkParser();
  ~ChunkParser();
  ChunkParser(ChunkParser&&) noexcept;

  // The chunk is valid until the next Parse. nullptr if `json` is not a JSON object.
  const StreamChunk* Parse(std::string_view json);
  // Parses without shapes. Returns false if `json` is not a JSON object; `chunk` is then undefined.
  bool ParseWhole(std::string_view json, StreamChunk& chunk);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace tacho
