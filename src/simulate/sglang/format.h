#pragma once

#include <memory>
#include <optional>
#include <string>

#include "simulate/engine/answer.h"
#include "simulate/engine/openai_request.h"

namespace tacho::simulate {

// What SGLang's answers report about a request apart from its text.
struct SglangAnswerFacts {
  std::string id;  // 32 hexadecimal digits, or the client's own rid
  double received_unix_s = 0;
  std::optional<int64_t> dp_rank;  // with several data-parallel ranks
};

// /v1/completions and /v1/chat/completions.
std::unique_ptr<AnswerFormat> MakeSglangFormat(const OpenAiRequest& request,
                                               const SglangAnswerFacts& facts);
// /generate: text and ids are those of the whole answer so far. `many`: a list of prompts was
// given, so a list of answers comes back.
std::unique_ptr<AnswerFormat> MakeGenerateFormat(const SglangAnswerFacts& facts, bool many);

}  // namespace tacho::simulate
