#pragma once

#include <memory>
#include <optional>
#include <string>

#include "simulate/engine/answer.h"
#include "simulate/engine/openai_request.h"

namespace tacho::simulate {

// What SGLang's answers report about a request besides its text.
struct SglangAnswerFacts {
  std::string id;  // 32 hexadecimal digits, or the rid that the client sent
  double received_unix_s = 0;
  std::optional<int64_t> dp_rank;  // set if there are several data-parallel ranks
};

// The format of /v1/completions and /v1/chat/completions.
std::unique_ptr<AnswerFormat> MakeSglangFormat(const OpenAiRequest& request,
                                               const SglangAnswerFacts& facts);
// The format of /generate, whose events hold all text and ids so far. `many`: the request gave a
// list of prompts, so it gets a list of answers.
std::unique_ptr<AnswerFormat> MakeGenerateFormat(const SglangAnswerFacts& facts, bool many);

}  // namespace tacho::simulate
