#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

struct ChunkChoice {
  int64_t index = 0;
  std::string_view text;    // of the answer or of its reasoning, also what calls a tool
  bool from_start = false;  // the text is all there is so far, not what is new (SGLang's /generate)
  bool role_only = false;   // the first chunk of a chat: no token
  int64_t token_ids = -1;   // how many; -1: none given
  std::string_view finish_reason;
};

// One event of a streamed answer, or a whole answer that was not streamed. Views stay as long as
// the text that was parsed, and until the next Parse.
struct StreamChunk {
  std::string_view id;
  std::vector<ChunkChoice> choices;
  // -1: not told. Of SGLang's /generate and of continuous_usage_stats they are running totals.
  int64_t prompt_tokens = -1, completion_tokens = -1, cached_tokens = -1;
  bool bad_usage = false;  // a count that is no number, negative or beyond any answer
  bool has_error = false;
  std::string error;  // with its type and code where it had them
};

// Takes the JSON of OpenAI's completions and chat and of SGLang's /generate apart, as vLLM and
// SGLang write it, with simdjson. Unknown keys are passed over. A chunk that looks like one before
// it is read by its shape (chunk_shape.h) and means the same.
class ChunkParser {
 public:
  ChunkParser();
  ~ChunkParser();
  ChunkParser(ChunkParser&&) noexcept;

  // Stays until the next Parse; nullptr when it is not a JSON object.
  const StreamChunk* Parse(std::string_view json);
  // The same without the knowledge of shapes. False when it is not a JSON object: `chunk` then says
  // nothing.
  bool ParseWhole(std::string_view json, StreamChunk& chunk);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace tacho
