#pragma once

#include <memory>
#include <string>

#include "simulate/engine/answer.h"
#include "simulate/engine/openai_request.h"

namespace tacho::simulate {

// The format of vLLM's OpenAI answers. `id`: the request's ("cmpl-..." or "chatcmpl-...");
// `fingerprint`: the server's.
std::unique_ptr<AnswerFormat> MakeVllmFormat(const OpenAiRequest& request, const std::string& id,
                                             int64_t created_s, const std::string& fingerprint);

}  // namespace tacho::simulate
