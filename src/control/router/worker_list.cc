#include "control/router/worker_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/parse_json.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "control/launch/yaml_json.h"
#include "net/url.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

std::string TextOf(const Json& object, const char* key) {
  const Json& text = JsonMember(object, key);
  return text.is_string() ? text.get<std::string>() : std::string();
}

ListedWorker FromUrl(const std::string& url) {
  return ListedWorker{.url = url,
                      .role = WorkerRole::kRegular,
                      .healthy = true,
                      .grpc = url.starts_with("grpc://") || url.starts_with("grpcs://"),
                      .zmq = url.starts_with("ipc://"),
                      .model = "",
                      .tensor_parallel = {}};
}

std::optional<ListedWorker> FromObject(const Json& object) {
  std::string url = TextOf(object, "url");
  if (url.empty()) return std::nullopt;
  ListedWorker worker = FromUrl(url);
  std::string role = AsciiLowered(TextOf(object, "worker_type"));
  if (role.find("prefill") != std::string::npos) worker.role = WorkerRole::kPrefill;
  if (role.find("decode") != std::string::npos) worker.role = WorkerRole::kDecode;
  const Json& healthy = JsonMember(object, "is_healthy");
  if (healthy.is_boolean()) worker.healthy = healthy.get<bool>();
  worker.grpc |= AsciiLowered(TextOf(object, "connection_mode")).starts_with("grpc");
  worker.model = TextOf(object, "model_id");
  worker.tensor_parallel = ParseWhole<int64_t>(TextOf(JsonMember(object, "labels"), "tp_size"));
  return worker;
}

// The workers in a JSON array of URLs or objects. nullopt if an element is neither.
std::optional<std::vector<ListedWorker>> FromArray(const Json& array) {
  std::vector<ListedWorker> workers;
  for (const Json& item : array) {
    if (item.is_string()) {
      workers.push_back(FromUrl(item.get<std::string>()));
      continue;
    }
    if (const Json& targets = JsonMember(item, "targets"); targets.is_array()) {
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

void AddAddress(const std::string& address, uint64_t port, std::vector<ListedWorker>& workers) {
  std::string host = address.find(':') == std::string::npos ? address : "[" + address + "]";
  workers.push_back(FromUrl(fmt::format("http://{}:{}", host, port)));
}

void AddAddresses(const std::string& address, const Json& ports,
                  std::vector<ListedWorker>& workers) {
  for (const Json& port : ports)
    if (const Json& number = JsonMember(port, "port"); number.is_number_unsigned())
      AddAddress(address, number.get<uint64_t>(), workers);
}

// Adds a pod if it is ready, once for each port that its containers declare.
void AddPod(const Json& pod, std::vector<ListedWorker>& workers) {
  const Json& status = JsonMember(pod, "status");
  const std::string address = TextOf(status, "podIP");
  bool ready = false;
  for (const Json& condition : JsonMember(status, "conditions"))
    ready |= TextOf(condition, "type") == "Ready" && TextOf(condition, "status") == "True";
  if (!ready || address.empty()) return;
  for (const Json& container : JsonMember(JsonMember(pod, "spec"), "containers"))
    for (const Json& port : JsonMember(container, "ports"))
      if (const Json& number = JsonMember(port, "containerPort"); number.is_number_unsigned())
        AddAddress(address, number.get<uint64_t>(), workers);
}

// Adds the workers in a Kubernetes object: discovery.k8s.io/v1 EndpointSlice, v1 Endpoints, v1 Pod,
// or a List of these.
void AddKubernetes(const Json& object, std::vector<ListedWorker>& workers) {
  if (const Json& items = JsonMember(object, "items"); items.is_array())
    for (const Json& item : items) AddKubernetes(item, workers);
  if (const Json& endpoints = JsonMember(object, "endpoints"); endpoints.is_array()) {
    for (const Json& endpoint : endpoints) {
      const Json& ready = JsonMember(JsonMember(endpoint, "conditions"), "ready");
      if (ready.is_boolean() && !ready.get<bool>()) continue;
      for (const Json& address : JsonMember(endpoint, "addresses"))
        if (address.is_string())
          AddAddresses(address.get<std::string>(), JsonMember(object, "ports"), workers);
    }
  }
  if (const Json& subsets = JsonMember(object, "subsets"); subsets.is_array())
    for (const Json& subset : subsets)
      for (const Json& address : JsonMember(subset, "addresses"))
        AddAddresses(TextOf(address, "ip"), JsonMember(subset, "ports"), workers);
  if (TextOf(object, "kind") == "Pod") AddPod(object, workers);
}

std::optional<std::vector<ListedWorker>> FromLines(std::string_view text) {
  std::vector<ListedWorker> workers;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (line.find(' ') != std::string_view::npos) return std::nullopt;
    // A host must have a '.' or a port, because otherwise any single word would pass as a host.
    if (line.find_first_of(".:") == std::string_view::npos && line != "localhost")
      return std::nullopt;
    if (!ParseUrl(SplitRank(line).server)) return std::nullopt;
    workers.push_back(FromUrl(std::string(line)));
  }
  return workers;
}

}  // namespace

std::optional<std::vector<ListedWorker>> ParseWorkerList(std::string_view body) {
  Json json = ParseJson(body);
  if (!json.is_object()) return std::nullopt;
  for (const char* key : {"workers", "urls"})
    if (const Json& list = JsonMember(json, key); list.is_array()) return FromArray(list);
  return std::nullopt;
}

std::optional<std::vector<ListedWorker>> ParseTargetList(std::string_view text) {
  Json json = ParseJson(text);
  if (json.is_array()) return FromArray(json);
  std::vector<ListedWorker> workers;
  if (json.is_discarded()) {
    // kubectl writes it in each object. Logs and lists of URLs must not be parsed as YAML.
    if (text.find("apiVersion:") == std::string_view::npos) return FromLines(text);
    std::optional<std::string> documents = JsonOfYaml(text);
    if (!documents) return std::nullopt;
    for (const Json& document : Json::parse(*documents)) AddKubernetes(document, workers);
  } else if (json.is_object()) {
    if (std::optional<std::vector<ListedWorker>> listed = ParseWorkerList(text)) return listed;
    AddKubernetes(json, workers);
  }
  if (workers.empty()) return std::nullopt;
  return workers;
}

RankedUrl SplitRank(std::string_view url) {
  while (!url.empty() && url.back() == '/') url.remove_suffix(1);
  size_t at = url.rfind('@');
  // Only a number after the last '@' is a rank: in "user@host:port" it is followed by a host.
  if (at == std::string_view::npos) return {std::string(url), std::nullopt};
  const auto rank = ParseWhole<int>(url.substr(at + 1));
  if (!rank || *rank < 0 || !ParseUrl(url.substr(0, at))) return {std::string(url), std::nullopt};
  return {std::string(url.substr(0, at)), rank};
}

std::vector<Worker> UnifyWorkers(const std::vector<ListedWorker>& listed,
                                 const std::string& found_in, std::vector<Finding>& findings) {
  std::vector<Worker> workers;       // in the order of the list
  std::map<std::string, int> plain;  // how often the list has a server without a rank
  for (const ListedWorker& item : listed) {
    if (item.zmq) {
      findings.push_back({FindingId::kZmqWorker, ShownUrl(item.url),
                          "speaks ZMQ with its router: no route reaches its profiler"});
      continue;
    }
    if (item.grpc) {
      findings.push_back({FindingId::kGrpcWorker, ShownUrl(item.url),
                          "speaks gRPC, has no HTTP route to profile by"});
      continue;
    }
    RankedUrl ranked = SplitRank(item.url);
    Result<Url> url = ParseUrl(ranked.server);
    if (!url) {
      findings.push_back(
          {FindingId::kInvalidAddress, ShownUrl(item.url), "left out: " + url.error().message});
      continue;
    }
    auto at = std::ranges::find(workers, url->Origin(), &Worker::url);
    if (at == workers.end()) {
      at = workers.emplace(at);
      at->url = url->Origin();
      at->healthy_by_router = false;
    }
    Worker& worker = *at;
    worker.role = item.role;
    worker.found_in = found_in;
    // A server is healthy if one of its ranks is.
    worker.healthy_by_router |= item.healthy;
    if (ranked.rank)
      worker.dp_ranks.push_back(*ranked.rank);
    else
      ++plain[worker.url];
  }
  for (Worker& worker : workers) {
    std::sort(worker.dp_ranks.begin(), worker.dp_ranks.end());
    worker.dp_ranks.erase(std::unique(worker.dp_ranks.begin(), worker.dp_ranks.end()),
                          worker.dp_ranks.end());
    if (plain[worker.url] > 1)
      findings.push_back({FindingId::kListedTwice, worker.url,
                          fmt::format("listed {} times, taken once", plain[worker.url])});
    if (!worker.healthy_by_router)
      findings.push_back(
          {FindingId::kUnhealthyByRouter, worker.url, "unhealthy, says " + found_in});
  }
  return workers;
}

}  // namespace tacho
