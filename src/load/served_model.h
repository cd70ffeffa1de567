#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/dataset.h"
#include "net/http_client.h"

namespace tacho {

// What a server says of the model that it serves.
struct ServedModel {
  std::string name;                      // that requests carry
  std::optional<int64_t> max_model_len;  // tokens of prompt and output together
  std::vector<std::string> all;          // every name that it answers to
};

// By GET /v1/models, the first of its list. kRemote when there is none.
Result<ServedModel> AskModel(HttpClient& client, const std::string& url,
                             std::chrono::milliseconds patience, std::stop_token stop = {});

// Ids that are words of the model's vocabulary, without a tokenizer of our own: what POST /tokenize
// makes of a page of plain text. Empty when the server has no such route.
std::vector<int64_t> AskTokenIds(HttpClient& client, const std::string& url,
                                 const std::string& model, std::chrono::milliseconds patience,
                                 std::stop_token stop = {});

// Fills the lengths of texts and answers that are not known, for as many rows as are needed, by
// the server's tokenizer; later rows are dropped. False when the server has none: then a token is
// taken for four bytes.
bool CountTokens(HttpClient& client, const std::string& url, const std::string& model,
                 size_t rows_needed, std::chrono::milliseconds patience, Dataset& dataset,
                 std::stop_token stop = {});

}  // namespace tacho
