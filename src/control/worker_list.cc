#include "control/worker_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "base/words.h"
#include "net/url.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

std::string TextOf(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& Member(const Json& object, const char* key) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

ListedWorker FromUrl(const std::string& url) {
  return ListedWorker{.url = url,
                      .role = WorkerRole::kRegular,
                      .healthy = true,
                      .grpc = url.starts_with("grpc://") || url.starts_with("grpcs://")};
}

std::optional<ListedWorker> FromObject(const Json& object) {
  std::string url = object.is_object() ? TextOf(object, "url") : std::string();
  if (url.empty()) return std::nullopt;
  ListedWorker worker = FromUrl(url);
  std::string role = AsciiLowered(TextOf(object, "worker_type"));
  if (role.find("prefill") != std::string::npos) worker.role = WorkerRole::kPrefill;
  if (role.find("decode") != std::string::npos) worker.role = WorkerRole::kDecode;
  const Json& healthy = Member(object, "is_healthy");
  if (healthy.is_boolean()) worker.healthy = healthy.get<bool>();
  worker.grpc |= AsciiLowered(TextOf(object, "connection_mode")).starts_with("grpc");
  return worker;
}

// The URLs or objects of a JSON array. Nothing when one of them is neither.
std::optional<std::vector<ListedWorker>> FromArray(const Json& array) {
  std::vector<ListedWorker> workers;
  for (const Json& item : array) {
    if (item.is_string()) {
      workers.push_back(FromUrl(item.get<std::string>()));
      continue;
    }
    if (const Json& targets = Member(item, "targets"); targets.is_array()) {
      std::optional<std::vector<ListedWorker>> inner = FromArray(targets);
      if (!inner) return std::nullopt;
      workers.insert(workers.end(), inner->begin(), inner->end());
      continue;
    }
    std::optional<ListedWorker> worker = FromObject(item);
    if (!worker) return std::nullopt;
    workers.push_back(*worker);
  }
  return workers;
}

void AddAddress(const std::string& address, const Json& ports, std::vector<ListedWorker>& workers) {
  std::string host = address.find(':') == std::string::npos ? address : "[" + address + "]";
  for (const Json& port : ports)
    if (const Json& number = Member(port, "port"); number.is_number_unsigned())
      workers.push_back(FromUrl(fmt::format("http://{}:{}", host, number.get<uint64_t>())));
}

// Kubernetes: discovery.k8s.io/v1 EndpointSlice, v1 Endpoints, or a List of either.
void AddKubernetes(const Json& object, std::vector<ListedWorker>& workers) {
  if (const Json& items = Member(object, "items"); items.is_array())
    for (const Json& item : items) AddKubernetes(item, workers);
  if (const Json& endpoints = Member(object, "endpoints"); endpoints.is_array()) {
    for (const Json& endpoint : endpoints) {
      const Json& ready = Member(Member(endpoint, "conditions"), "ready");
      if (ready.is_boolean() && !ready.get<bool>()) continue;
      for (const Json& address : Member(endpoint, "addresses"))
        if (address.is_string())
          AddAddress(address.get<std::string>(), Member(object, "ports"), workers);
    }
  }
  if (const Json& subsets = Member(object, "subsets"); subsets.is_array())
    for (const Json& subset : subsets)
      for (const Json& address : Member(subset, "addresses"))
        AddAddress(TextOf(address.is_object() ? address : Json::object(), "ip"),
                   Member(subset, "ports"), workers);
}

std::optional<std::vector<ListedWorker>> FromLines(std::string_view text) {
  std::vector<ListedWorker> workers;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (line.find(' ') != std::string_view::npos) return std::nullopt;
    if (!ParseUrl(SplitRank(line).server)) return std::nullopt;
    workers.push_back(FromUrl(std::string(line)));
  }
  return workers;
}

}  // namespace

std::optional<std::vector<ListedWorker>> ParseWorkerList(std::string_view body) {
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  for (const char* key : {"workers", "urls"})
    if (const Json& list = Member(json, key); list.is_array()) return FromArray(list);
  return std::nullopt;
}

std::optional<std::vector<ListedWorker>> ParseTargetList(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return FromLines(text);
  if (json.is_array()) return FromArray(json);
  if (!json.is_object()) return std::nullopt;
  if (std::optional<std::vector<ListedWorker>> listed = ParseWorkerList(text)) return listed;
  std::vector<ListedWorker> workers;
  AddKubernetes(json, workers);
  if (workers.empty()) return std::nullopt;
  return workers;
}

RankedUrl SplitRank(std::string_view url) {
  while (!url.empty() && url.back() == '/') url.remove_suffix(1);
  size_t at = url.rfind('@');
  // "user@host" has its '@' in front of the port's ':', a rank has none behind it.
  if (at == std::string_view::npos) return {std::string(url), std::nullopt};
  int rank = 0;
  const char* end = url.data() + url.size();
  auto [rest, error] = std::from_chars(url.data() + at + 1, end, rank);
  if (error != std::errc() || rest != end || rank < 0) return {std::string(url), std::nullopt};
  return {std::string(url.substr(0, at)), rank};
}

std::vector<Worker> UnifyWorkers(const std::vector<ListedWorker>& listed,
                                 const std::string& found_in, std::vector<std::string>& remarks) {
  std::map<std::string, Worker> servers;
  std::map<std::string, int> plain;  // how often a server stands in the list without a rank
  for (const ListedWorker& item : listed) {
    if (item.grpc) {
      remarks.push_back(fmt::format("{}: speaks gRPC, has no HTTP route to profile by", item.url));
      continue;
    }
    RankedUrl ranked = SplitRank(item.url);
    Result<Url> url = ParseUrl(ranked.server);
    if (!url) {
      remarks.push_back(fmt::format("{}: left out: {}", item.url, url.error().message));
      continue;
    }
    Worker& worker = servers[url->Origin()];
    if (worker.url.empty()) worker.healthy_by_router = false;
    worker.url = url->Origin();
    worker.role = item.role;
    worker.found_in = found_in;
    // A server lives when one of its ranks does.
    worker.healthy_by_router |= item.healthy;
    if (ranked.rank)
      worker.dp_ranks.push_back(*ranked.rank);
    else
      ++plain[worker.url];
  }
  std::vector<Worker> workers;
  for (auto& [url, worker] : servers) {
    std::sort(worker.dp_ranks.begin(), worker.dp_ranks.end());
    worker.dp_ranks.erase(std::unique(worker.dp_ranks.begin(), worker.dp_ranks.end()),
                          worker.dp_ranks.end());
    if (plain[url] > 1)
      remarks.push_back(fmt::format("{}: listed {} times, taken once", url, plain[url]));
    if (!worker.healthy_by_router)
      remarks.push_back(fmt::format("{}: unhealthy, says {}", url, found_in));
    workers.push_back(std::move(worker));
  }
  return workers;
}

}  // namespace tacho
