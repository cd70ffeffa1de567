#include "load/token_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tacho {
namespace {

using Json = nlohmann::json;

// Common words of several kinds: prose, numbers, code.
constexpr const char* kText =
    "The engineers measured how long each request waited before its first token came back, and "
    "wrote down 127 numbers: queue, prefill, decode. Nobody had expected the slowest part. While "
    "one server answered questions about rivers, music and the weather of last October, another "
    "translated a contract, sorted 4096 records by date and explained why the moon looks larger "
    "near the horizon. for i in range(10): print(f\"{i}: {values[i] * 2.5}\") # a short loop\n"
    "if (count == 0) return nullptr; SELECT name, price FROM items WHERE id = 42; Please summarise "
    "the following paragraph in three sentences, keep the names, and do not add opinions.";
constexpr size_t kFewest = 8;

}  // namespace

Result<std::vector<int64_t>> FetchTokenIds(HttpClient& client, const std::string& url,
                                           const std::string& model, std::stop_token stop) {
  HttpRequest request;
  request.method = "POST";
  request.url = url + "/tokenize";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = Json{{"model", model}, {"prompt", kText}, {"add_special_tokens", false}}.dump();
  request.timeout = std::chrono::seconds(30);
  Result<HttpResponse> answer = client.Fetch(request, stop);
  if (!answer) return tl::unexpected(answer.error());
  Json json = Json::parse(answer->body, nullptr, false);
  std::vector<int64_t> ids;
  if (answer->status == 200 && json.is_object() && json.contains("tokens"))
    for (const Json& token : json["tokens"])
      if (token.is_number_integer()) ids.push_back(token.get<int64_t>());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.size() < kFewest)
    return Fail(ErrorKind::kRemote,
                fmt::format("{}/tokenize: HTTP {} without token ids", url, answer->status));
  return ids;
}

}  // namespace tacho
