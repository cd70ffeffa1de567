#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simulate/api_error.h"

namespace tacho::simulate {

// A request to /v1/completions or /v1/chat/completions.
struct OpenAiRequest {
  bool chat = false;
  std::string model;
  std::vector<std::vector<int64_t>> prompts;  // as tokens; a chat has one prompt
  int64_t max_tokens = 16;                    // 0: as many as fit
  bool ignore_eos = false;
  int64_t copies = 1;  // the field `n`
  bool stream = false;
  bool include_usage = false, continuous_usage = false;
  bool return_token_ids = false;
  int64_t stream_interval = 0;      // 0: the server's setting
  int64_t data_parallel_rank = -1;  // from SGLang's body
  // A requested token that the model does not have; it causes an error inside the stream. -1: none.
  int64_t unknown_token = -1;
};

struct OpenAiLimits {
  SimulatedEngine engine = SimulatedEngine::kVllm;  // the engine whose format refusals have
  std::string model;       // requests for another name are refused; "": any name
  int64_t max_length = 0;  // tokens of prompt and answer together
  int64_t vocabulary = 1;
};

// Reads a body as the engines do: ignores unknown fields.
std::variant<OpenAiRequest, ApiError> ReadOpenAiRequest(std::string_view body, bool chat,
                                                        const OpenAiLimits& limits);

}  // namespace tacho::simulate
