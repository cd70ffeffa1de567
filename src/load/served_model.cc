#include "load/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "net/url.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kAtOnce = 64;  // of requests to the tokenizer
constexpr int64_t kBytesAToken = 4;
// The same bounds as vLLM's client sets for ShareGPT.
constexpr int64_t kLeastTokens = 4, kMostPrompt = 1024, kMostBoth = 2048;

constexpr std::string_view kPlainText =
    "The engineer walked along the river in the morning, thinking about the long report that the "
    "committee had asked for. Every number in it came from a measurement, and every measurement "
    "had "
    "been repeated until the result stayed the same. When the water rose in spring, the bridge "
    "held, "
    "because the people who built it had counted the weight of the snow as well. Nobody remembered "
    "their names, but the drawings were still kept in the town hall, next to maps, letters and an "
    "old photograph of the market. In the evening she wrote the last page, closed the book and "
    "opened the window. Somewhere a train was leaving for the north; its sound moved slowly across "
    "the fields, past small houses with warm light, and then it was quiet again. Tomorrow the work "
    "would go on: questions, answers, corrections, and a few simple words for those who had no "
    "time "
    "to read more than the first line.";

// Engines answer 404 to "//tokenize".
std::string AddressOf(const std::string& url, std::string_view route) {
  const auto parsed = ParseUrl(url);
  return parsed ? parsed->With(route) : url + std::string(route);
}

HttpRequest TokenizeRequest(const std::string& url, const std::string& model, std::string_view text,
                            std::chrono::milliseconds patience) {
  HttpRequest request;
  request.method = "POST";
  request.url = AddressOf(url, "/tokenize");
  request.headers = {{"Content-Type", "application/json"}};
  request.body = fmt::format("{{\"model\":{},\"prompt\":{},\"add_special_tokens\":false}}",
                             QuoteJson(model), QuoteJson(text));
  request.connect_timeout = request.timeout = patience;
  return request;
}

// The "tokens" of an answer; empty when it has none.
std::vector<int64_t> TokensOf(const Result<HttpResponse>& answer) {
  if (!answer || answer->status != 200) return {};
  const Json json = Json::parse(answer->body, nullptr, false);
  if (!json.is_object() || !json.contains("tokens") || !json["tokens"].is_array()) return {};
  std::vector<int64_t> tokens;
  for (const Json& token : json["tokens"]) {
    if (token.is_number_integer()) tokens.push_back(token.get<int64_t>());
  }
  return tokens;
}

std::optional<int64_t> CountOf(const Result<HttpResponse>& answer) {
  if (!answer || answer->status != 200) return std::nullopt;
  const Json json = Json::parse(answer->body, nullptr, false);
  if (!json.is_object() || !json.contains("count")) return std::nullopt;
  const Json& count = json["count"];
  if (!count.is_number_integer()) return std::nullopt;
  return count.get<int64_t>();
}

bool IsInBounds(const DatasetRow& row) {
  return row.prompt_tokens >= kLeastTokens && row.output_tokens >= kLeastTokens &&
         row.prompt_tokens <= kMostPrompt && row.prompt_tokens + row.output_tokens <= kMostBoth;
}

}  // namespace

Result<ServedModel> AskModel(HttpClient& client, const std::string& url,
                             std::chrono::milliseconds patience, std::stop_token stop) {
  HttpRequest request;
  request.url = AddressOf(url, "/v1/models");
  request.connect_timeout = request.timeout = patience;
  const auto answer = client.Fetch(request, std::move(stop));
  if (!answer) return tl::unexpected<Error>(answer.error());
  const Json json = Json::parse(answer->body, nullptr, false);
  if (answer->status != 200 || !json.is_object() || !json.contains("data") ||
      !json["data"].is_array() || json["data"].empty()) {
    return Fail(ErrorKind::kRemote,
                fmt::format("{}: HTTP {} and no list of models: is this an engine? (--model NAME "
                            "does without)",
                            request.url, answer->status));
  }
  ServedModel served;
  for (const Json& model : json["data"]) {
    if (model.is_object() && model.contains("id") && model["id"].is_string()) {
      served.all.push_back(model["id"].get<std::string>());
    }
  }
  if (served.all.empty()) {
    return Fail(ErrorKind::kRemote, request.url + ": models without a name");
  }
  served.name = served.all.front();
  const Json& first = json["data"][0];
  if (first.contains("max_model_len") && first["max_model_len"].is_number_integer()) {
    served.max_model_len = first["max_model_len"].get<int64_t>();
  }
  return served;
}

std::vector<int64_t> AskTokenIds(HttpClient& client, const std::string& url,
                                 const std::string& model, std::chrono::milliseconds patience,
                                 std::stop_token stop) {
  std::vector<int64_t> ids =
      TokensOf(client.Fetch(TokenizeRequest(url, model, kPlainText, patience), std::move(stop)));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

bool CountTokens(HttpClient& client, const std::string& url, const std::string& model,
                 size_t rows_needed, std::chrono::milliseconds patience, Dataset& dataset,
                 std::stop_token stop) {
  bool has_tokenizer = true;
  std::vector<DatasetRow> kept;
  for (size_t begin = 0; begin < dataset.rows.size() && kept.size() < rows_needed;
       begin += kAtOnce) {
    const size_t end = std::min(begin + kAtOnce, dataset.rows.size());
    std::vector<Result<HttpResponse>> answers;
    if (has_tokenizer) {
      std::vector<HttpRequest> requests;
      for (size_t i = begin; i < end; ++i) {
        requests.push_back(TokenizeRequest(url, model, dataset.rows[i].text, patience));
        requests.push_back(TokenizeRequest(url, model, dataset.rows[i].answer, patience));
      }
      answers = client.FetchAll(requests, stop);
    }
    for (size_t i = begin; i < end && kept.size() < rows_needed; ++i) {
      DatasetRow& row = dataset.rows[i];
      const auto count = [&](size_t which, const std::string& text) {
        const auto told =
            has_tokenizer ? CountOf(answers[2 * (i - begin) + which]) : std::optional<int64_t>();
        if (!told) has_tokenizer = false;
        return told.value_or(static_cast<int64_t>(text.size()) / kBytesAToken);
      };
      row.prompt_tokens = count(0, row.text);
      row.output_tokens = count(1, row.answer);
      if (IsInBounds(row)) {
        kept.push_back(std::move(row));
      } else {
        ++dataset.unfit;
      }
    }
  }
  dataset.rows = std::move(kept);
  return has_tokenizer;
}

}  // namespace tacho
