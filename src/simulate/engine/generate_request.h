#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simulate/api_error.h"

namespace tacho::simulate {

// A request to SGLang's own route /generate.
struct GenerateRequest {
  std::vector<std::vector<int64_t>> prompts;
  bool many = false;  // the request gave a list of prompts, even if it holds only one
  int64_t max_new_tokens = 128;
  bool ignore_eos = false;
  bool stream = false;
  std::string rid;
  int64_t data_parallel_rank = -1;
  // An error that is sent inside the stream, with status 200. Without a stream it is the whole
  // answer, with status 400.
  std::string late_error;
};

std::variant<GenerateRequest, ApiError> ReadGenerateRequest(std::string_view body,
                                                            int64_t max_length, int64_t vocabulary);
// A refusal of /generate: {"error":{"message":...}}.
std::string GenerateErrorJson(std::string_view message);

}  // namespace tacho::simulate
