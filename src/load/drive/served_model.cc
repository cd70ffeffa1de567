#include "load/drive/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "net/url.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kAtOnce = 64;  // tokenizer requests in flight at a time
constexpr int64_t kBytesAToken = 4;
// The bounds that vLLM's client sets for ShareGPT.
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

// Joins the URL and the route with exactly one slash: engines answer 404 to "//tokenize".
std::string AddressOf(const std::string& url, std::string_view route) {
  const auto parsed = ParseUrl(url);
  return parsed ? parsed->With(route) : url + std::string(route);
}

// `key` is "prompt" or "messages"; `json` is its value.
HttpRequest TokenizeRequest(const std::string& url, const std::string& model, std::string_view key,
                            std::string_view json, std::chrono::milliseconds patience) {
  HttpRequest request;
  request.method = "POST";
  request.url = AddressOf(url, "/tokenize");
  request.headers = {{"Content-Type", "application/json"}};
  request.body = fmt::format("{{\"model\":{},\"{}\":{},\"add_special_tokens\":false}}",
                             QuoteJson(model), key, json);
  request.connect_timeout = request.timeout = patience;
  return request;
}

// The JSON of a tokenizer's answer; kRemote if it lacks `key`.
Result<Json> Told(const Result<HttpResponse>& answer, const char* key) {
  if (!answer) return tl::unexpected<Error>(answer.error().WithContext("the tokenizer"));
  if (answer->status == 404 || answer->status == 405) {
    return Fail(ErrorKind::kRemote, "the server has no tokenizer route");
  }
  Json json = ParseJson(answer->body);
  if (answer->status == 200 && json.is_object() && json.contains(key)) return json;
  return Fail(ErrorKind::kRemote,
              fmt::format("the tokenizer answered HTTP {} without a \"{}\"", answer->status, key));
}

Result<int64_t> CountOf(const Result<HttpResponse>& answer) {
  TACHO_ASSIGN_OR_RETURN(const auto json, Told(answer, "count"));
  const Json& count = json["count"];
  if (count.is_number_integer()) return count.get<int64_t>();
  return Fail(ErrorKind::kRemote, "the tokenizer's \"count\" is not a number");
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
  TACHO_ASSIGN_OR_RETURN(const auto answer, client.Fetch(request, std::move(stop)));
  const Json json = ParseJson(answer.body);
  if (const std::string remedy = KeyRemedy(answer); !remedy.empty())
    return Fail(ErrorKind::kRemote, fmt::format("{}: {}", request.url, remedy));
  if (answer.status != 200 || !json.is_object() || !json.contains("data") ||
      !json["data"].is_array() || json["data"].empty()) {
    return Fail(ErrorKind::kRemote,
                fmt::format("{}: HTTP {} and no list of models: is this an engine? (--model NAME "
                            "does without)",
                            request.url, answer.status));
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

Result<std::vector<int64_t>> AskTokenIds(HttpClient& client, const std::string& url,
                                         const std::string& model,
                                         std::chrono::milliseconds patience, std::stop_token stop) {
  TACHO_ASSIGN_OR_RETURN(
      const auto json,
      Told(client.Fetch(TokenizeRequest(url, model, "prompt", QuoteJson(kPlainText), patience),
                        std::move(stop)),
           "tokens"));
  std::vector<int64_t> ids;
  for (const Json& token : json["tokens"]) {
    if (token.is_number_integer()) ids.push_back(token.get<int64_t>());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.empty()) return Fail(ErrorKind::kRemote, "the tokenizer returned no token");
  return ids;
}

CountedTokens CountTokens(HttpClient& client, const std::string& url, const std::string& model,
                          const CountOptions& options, Dataset& dataset, std::stop_token stop) {
  const bool with_answers = dataset.kind == DatasetKind::kShareGpt;
  const char* const key = dataset.kind == DatasetKind::kMessages ? "messages" : "prompt";
  const auto request = [&](std::string_view text) {
    return TokenizeRequest(
        url, model, key,
        dataset.kind == DatasetKind::kMessages ? std::string(text) : QuoteJson(text),
        options.patience);
  };
  CountedTokens counted;
  std::vector<DatasetRow> kept;
  for (size_t begin = 0; begin < dataset.rows.size() && kept.size() < options.rows_needed;
       begin += kAtOnce) {
    const size_t end = std::min(begin + kAtOnce, dataset.rows.size());
    std::vector<HttpRequest> requests;
    for (size_t i = begin; i < end && counted.guessed.empty(); ++i) {
      requests.push_back(request(dataset.rows[i].text));
      if (with_answers) requests.push_back(request(dataset.rows[i].answer));
    }
    const std::vector<Result<HttpResponse>> answers = client.FetchAll(requests, stop);
    size_t next = 0;
    const auto count = [&](const std::string& text) {
      if (next < answers.size()) {
        const auto told = CountOf(answers[next++]);
        if (told) return *told;
        if (counted.guessed.empty()) counted.guessed = told.error().message;
      }
      return std::max<int64_t>(1, static_cast<int64_t>(text.size()) / kBytesAToken);
    };
    for (size_t i = begin; i < end && kept.size() < options.rows_needed; ++i) {
      DatasetRow& row = dataset.rows[i];
      row.prompt_tokens = count(row.text);
      if (with_answers) row.output_tokens = count(row.answer);
      const bool too_long = counted.guessed.empty() && options.most_total_tokens &&
                            row.prompt_tokens >= *options.most_total_tokens;
      if (with_answers ? !IsInBounds(row) : too_long) {
        ++(with_answers ? dataset.unfit : counted.too_long);
      } else {
        kept.push_back(std::move(row));
      }
    }
  }
  dataset.rows = std::move(kept);
  return counted;
}

}  // namespace tacho
