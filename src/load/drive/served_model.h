#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/plan/dataset.h"
#include "net/http_client.h"

namespace tacho {

// What a server reports about the model that it serves.
struct ServedModel {
  std::string name;                      // the name that requests carry
  std::optional<int64_t> max_model_len;  // tokens of prompt and output together
  std::vector<std::string> all;          // every name that it answers to
};

// The first model of GET /v1/models. kRemote if no model is listed.
Result<ServedModel> AskModel(HttpClient& client, const std::string& url,
                             std::chrono::milliseconds patience, std::stop_token stop = {});

// Token ids of words in the model's vocabulary. tacho has no tokenizer, so it sends a page of plain
// text to the server's POST /tokenize. kRemote, with the reason: the server has no such route, or
// did not answer.
Result<std::vector<int64_t>> AskTokenIds(HttpClient& client, const std::string& url,
                                         const std::string& model,
                                         std::chrono::milliseconds patience,
                                         std::stop_token stop = {});

struct CountOptions {
  size_t rows_needed = SIZE_MAX;             // rows after this many are dropped
  std::optional<int64_t> most_total_tokens;  // the model's context length
  std::chrono::milliseconds patience{10'000};
};
struct CountedTokens {
  std::string guessed;    // why a token was taken to be four bytes; "" if the server counted all
  uint64_t too_long = 0;  // prompts left out because the model has no room to answer them
};
// Fills in the token counts of a dataset's texts with the server's tokenizer: those of prompts and,
// for ShareGPT, of answers too. Leaves out rows that do not fit: for ShareGPT those outside vLLM's
// bounds (4 to 1,024 tokens in, at most 2,048 in all), for other datasets prompts that leave the
// model no room to answer. If token counts had to be guessed, it applies only ShareGPT's bounds.
CountedTokens CountTokens(HttpClient& client, const std::string& url, const std::string& model,
                          const CountOptions& options, Dataset& dataset, std::stop_token stop = {});

}  // namespace tacho
