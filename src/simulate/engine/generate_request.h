#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simulate/api_error.h"

namespace tacho::simulate {

// A request to SGLang's own /generate.
struct GenerateRequest {
  std::vector<std::vector<int64_t>> prompts;
  bool many = false;  // a list of prompts was given, perhaps of one
  int64_t max_new_tokens = 128;
  bool ignore_eos = false;
  bool stream = false;
  std::string rid;
  int64_t data_parallel_rank = -1;
  // An error that comes inside the stream, with 200; without a stream it is the answer, with 400.
  std::string late_error;
};

std::variant<GenerateRequest, ApiError> ReadGenerateRequest(std::string_view body,
                                                            int64_t max_length, int64_t vocabulary);
// {"error":{"message":...}}: a refusal of /generate.
std::string GenerateErrorJson(std::string_view message);

}  // namespace tacho::simulate
