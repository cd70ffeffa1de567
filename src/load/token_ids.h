#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"

namespace tacho {

// Token ids that the model certainly has, ascending and distinct: those of a paragraph of plain
// text by the server's own tokenizer (POST /tokenize, vLLM and SGLang). Prompts made of them are
// valid and free of special tokens, whatever the vocabulary. kRemote when the server has no such
// route or it answers otherwise: then 1000 to 9999 is a guess that a small vocabulary refuses.
Result<std::vector<int64_t>> FetchTokenIds(HttpClient& client, const std::string& url,
                                           const std::string& model, std::stop_token stop = {});

}  // namespace tacho
