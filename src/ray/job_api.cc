#include "ray/job_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/parse_json.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kFirstAnswer{4500}, kLeastPatience{500}, kAnswer{30'000},
    kTransfer{3'600'000};
constexpr std::chrono::milliseconds kQuickly{10'000}, kLog{5000}, kIdle{60'000};
constexpr size_t kMostWords = 300, kMostLog = 4096;

std::string TextOf(const json& object, std::string_view key) {
  const json& value = JsonMember(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

uint64_t NumberOf(const json& value) {
  if (!value.is_number()) return 0;
  const auto number = value.get<double>();
  return number > 0 && number < 1e18 ? static_cast<uint64_t>(number) : 0;
}

uint64_t NumberAt(const json& list, size_t index) {
  return list.is_array() && list.size() > index ? NumberOf(list[index]) : 0;
}

// The beginning of what a server says, on one line.
std::string FirstLine(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return VisibleText(line.substr(0, kMostWords)) + (line.size() > kMostWords ? " ..." : "");
}

// "died. Node Id: 7df9 why" is "died: why" afterwards.
void EraseNodeId(std::string& message) {
  constexpr std::string_view kId = ". Node Id: ", kSpace = " .\n\t";
  const size_t at = message.find(kId);
  if (at == std::string::npos) return;
  const size_t end = message.find_first_of(kSpace, at + kId.size());
  const size_t why = message.find_first_not_of(kSpace, end);
  message.replace(at, std::min(why, message.size()) - at, why < message.size() ? ": " : "");
}

// Why a job ended, from Ray's message about its supervisor: "its node has died", or the last line
// of a traceback: "OSError: [Errno 28] No space left on device".
std::string ReasonIn(std::string message) {
  if (message.find("Traceback (most recent call last)") != std::string::npos) {
    std::istringstream lines(message);
    for (std::string line; std::getline(lines, line);)
      if (!line.empty() && line[0] != ' ' && line[0] != '\t') message = line;
    return FirstLine(message);
  }
  constexpr std::string_view kBecause = "because ";
  if (const size_t at = message.find(kBecause); at != std::string::npos) {
    message.erase(0, at + kBecause.size());
    EraseNodeId(message);
    std::ranges::replace(message, '\n', ' ');
    std::ranges::replace(message, '\t', ' ');
  }
  return FirstLine(message);
}

Result<void> CheckToken(const HttpResponse& answer, const Url& address) {
  if (answer.status == 401 && answer.key != KeyUse::kSent) {
    return FailAt(
        ErrorKind::kRemote, address.Origin(),
        "HTTP 401: the cluster wants a token: set RAY_AUTH_TOKEN, or RAY_AUTH_TOKEN_PATH, "
        "or write it to ~/.ray/auth_token");
  }
  if (answer.status == 401 || answer.status == 403) {
    return FailAt(ErrorKind::kRemote, address.Origin(),
                  fmt::format("HTTP {}: the cluster refuses the token of RAY_AUTH_TOKEN, "
                              "RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token",
                              answer.status));
  }
  return {};
}

std::optional<uint64_t> FreeDisk(const json& disks, const std::string& folder) {
  std::optional<uint64_t> free;
  size_t longest = 0;
  if (!disks.is_object()) return free;
  for (const auto& [place, disk] : disks.items()) {
    if (!folder.starts_with(place) || place.size() < longest) continue;
    longest = place.size();
    if (const json& bytes = JsonMember(disk, "free"); bytes.is_number()) free = NumberOf(bytes);
  }
  return free;
}

RayNode NodeOf(const json& summary) {
  const json& raylet = JsonMember(summary, "raylet");
  RayNode node;
  node.id = TextOf(raylet, "nodeId");
  node.ip = TextOf(raylet, "nodeManagerAddress");
  if (node.ip.empty()) node.ip = TextOf(summary, "ip");
  node.name = TextOf(raylet, "nodeManagerHostname");
  if (node.name.empty()) node.name = TextOf(summary, "hostname");
  if (node.name.empty()) node.name = node.ip;
  node.session = TextOf(raylet, "sessionDir");
  if (node.session.empty()) {
    const std::string socket = TextOf(raylet, "rayletSocketName");
    if (const size_t end = socket.find("/sockets/"); end != std::string::npos)
      node.session = socket.substr(0, end);
  }
  node.free_disk = FreeDisk(JsonMember(summary, "disk"), node.session);
  node.cores = NumberAt(JsonMember(summary, "cpus"), 0);
  node.alive = TextOf(raylet, "state") == "ALIVE";
  return node;
}

JobState StateOf(const json& job) {
  JobState state;
  const std::string status = TextOf(job, "status");
  state.ended = status == "SUCCEEDED" || status == "FAILED" || status == "STOPPED";
  state.started = state.ended || status == "RUNNING";
  if (const json& exit = JsonMember(job, "driver_exit_code"); exit.is_number_integer())
    state.exit_status = exit.get<int>();
  else if (status == "SUCCEEDED")
    state.exit_status = 0;
  const std::string message = TextOf(job, "message");
  state.message = ReasonIn(message);
  state.node_died = message.find("node has died") != std::string::npos;
  return state;
}

// Whether the cluster wants a token. Old versions of Ray do not know the question, and have none.
bool WantsToken(const HttpResponse& mode) {
  return mode.status == 401 || mode.status == 403 ||
         TextOf(ParseJson(mode.body), "authentication_mode") == "token";
}

}  // namespace

HttpRequest JobApi::Ask(std::string method, const std::string& route, std::string body) const {
  HttpRequest request;
  request.method = std::move(method);
  request.url = address_.With(route);
  if (!body.empty()) request.headers = {{"Content-Type", kJsonType}};
  request.body = std::move(body);
  request.timeout = kAnswer;
  return request;
}

Result<HttpResponse> JobApi::Fetch(const HttpRequest& request, const std::stop_token& stop) const {
  auto answer = client_->Fetch(request, stop);
  TACHO_RETURN_IF_ERROR(CheckAnswer(answer));
  return answer;
}

Result<void> JobApi::CheckAnswer(const Result<HttpResponse>& answer) const {
  TACHO_RETURN_IF_ERROR(answer);
  TACHO_RETURN_IF_ERROR(CheckToken(*answer, address_));
  if (answer->status == 200) return {};
  return FailAt(ErrorKind::kRemote, address_.Origin(),
                fmt::format("HTTP {}: {}", answer->status, ReasonIn(answer->body)));
}

Result<JobApi> JobApi::Connect(const Url& address, const std::string& token, std::stop_token stop) {
  const auto began = std::chrono::steady_clock::now();
  const auto make = [&](const std::string& key) -> Result<JobApi> {
    HttpClientOptions options;
    options.bearer_key = key;
    TACHO_ASSIGN_OR_RETURN(auto client, HttpClient::Create(options));
    client->NameServer(address);
    return JobApi(address, std::move(client));
  };
  const auto ask = [&](const JobApi& api, const char* route) {
    HttpRequest request = api.Ask("GET", route);
    const auto left = kFirstAnswer - (std::chrono::steady_clock::now() - began);
    request.timeout = request.connect_timeout =
        std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left), kLeastPatience);
    return api.client_->Fetch(request, stop);
  };
  TACHO_ASSIGN_OR_RETURN(JobApi api, make(""));
  auto answer = ask(api, "api/authentication_mode");
  if (answer) {
    if (WantsToken(*answer)) {
      TACHO_ASSIGN_OR_RETURN(api, make(token));
    }
    answer = ask(api, "api/version");
  }
  if (!answer && answer.error().kind == ErrorKind::kInterrupted)
    return tl::unexpected<Error>(answer.error());
  if (answer) TACHO_RETURN_IF_ERROR(CheckToken(*answer, address));
  std::string problem;
  if (!answer)
    problem = answer.error().message;
  else if (answer->status != 200)
    problem = fmt::format("{}: HTTP {}", address.Origin(), answer->status);
  else if (TextOf(ParseJson(answer->body), "ray_version").empty())
    problem = address.Origin() + ": the answer is not that of Ray";
  if (problem.empty()) return api;
  return Fail(ErrorKind::kRemote,
              fmt::format("{}: {}; it listens on the head's own 127.0.0.1:{}, unless ray start had "
                          "--dashboard-host=0.0.0.0: from another host, ssh -L {}:127.0.0.1:{} "
                          "HEAD; Ray has it if installed as ray[default]",
                          kNoDashboard, problem, 8265, 8265, 8265));
}

Result<std::vector<RayNode>> JobApi::Nodes(const std::stop_token& stop) const {
  TACHO_ASSIGN_OR_RETURN(const HttpResponse answer, Fetch(Ask("GET", "nodes?view=summary"), stop));
  const json body = ParseJson(answer.body);
  const json& list = JsonMember(JsonMember(body, "data"), "summary");
  if (!list.is_array())
    return FailAt(ErrorKind::kRemote, address_.Origin(), "the answer has no list of nodes");
  std::vector<RayNode> nodes;
  std::map<std::string, int> living, named;
  for (const json& summary : list) {
    RayNode node = NodeOf(summary);
    if (node.id.empty() || node.ip.empty() || (node.alive && node.session.empty())) continue;
    if (node.alive) ++living[node.ip];
    nodes.push_back(std::move(node));
  }
  std::erase_if(nodes, [&](const RayNode& n) { return !n.alive && living.contains(n.ip); });
  for (const RayNode& node : nodes) ++named[node.name];
  for (RayNode& node : nodes)
    if (named[node.name] > 1 && node.name != node.ip) node.name += "(" + node.ip + ")";
  std::ranges::sort(nodes, {}, [](const RayNode& n) { return std::tie(n.name, n.ip, n.id); });
  return nodes;
}

Result<bool> JobApi::HasPackage(const std::string& hash, const std::stop_token& stop) const {
  const auto answer =
      client_->Fetch(Ask("GET", fmt::format("api/packages/gcs/_ray_pkg_{}.zip", hash)), stop);
  if (answer && answer->status == 404) return false;
  TACHO_RETURN_IF_ERROR(CheckAnswer(answer));
  return true;
}

Result<void> JobApi::PutPackage(const std::string& hash, std::string zip,
                                const std::stop_token& stop) const {
  HttpRequest request = Ask("PUT", fmt::format("api/packages/gcs/_ray_pkg_{}.zip", hash));
  request.body = std::move(zip);
  request.headers = {{"Content-Type", "application/octet-stream"}};
  request.timeout = kTransfer;
  request.idle_timeout = kIdle;
  TACHO_RETURN_IF_ERROR(Fetch(request, stop));
  return {};
}

std::vector<Result<void>> JobApi::Submit(const std::vector<JobOrder>& jobs,
                                         const std::string& hash) const {
  std::vector<HttpRequest> requests;
  for (const JobOrder& job : jobs) {
    const json order = {
        {"entrypoint", job.command},
        {"submission_id", job.id},
        {"entrypoint_num_cpus", 0},
        {"entrypoint_resources", {{"node:" + job.ip, 0.001}}},
        {"runtime_env", {{"working_dir", fmt::format("gcs://_ray_pkg_{}.zip", hash)}}}};
    requests.push_back(
        Ask("POST", "api/jobs/", order.dump(-1, ' ', false, json::error_handler_t::replace)));
  }
  std::vector<Result<void>> ends;
  for (const auto& answer : client_->FetchAll(requests)) ends.push_back(CheckAnswer(answer));
  return ends;
}

std::vector<Result<JobState>> JobApi::StatesOf(const std::vector<std::string>& ids,
                                               const std::stop_token& stop) const {
  std::vector<HttpRequest> requests;
  for (const std::string& id : ids) requests.push_back(Ask("GET", "api/jobs/" + id));
  std::vector<Result<JobState>> states;
  for (const auto& answer : client_->FetchAll(requests, stop)) {
    if (answer && answer->status == 404) {
      states.push_back(JobState{.started = true,
                                .ended = true,
                                .known = false,
                                .exit_status = {},
                                .message = FirstLine(answer->body),
                                .node_died = false});
      continue;
    }
    states.push_back(CheckAnswer(answer).map([&] { return StateOf(ParseJson(answer->body)); }));
  }
  return states;
}

std::vector<Result<std::string>> JobApi::LogsOf(const std::vector<std::string>& ids,
                                                const std::stop_token& stop) const {
  constexpr uint64_t kMostRead = 1u << 20;
  std::vector<HttpRequest> requests;
  for (const std::string& id : ids) {
    requests.push_back(Ask("GET", "api/jobs/" + id + "/logs"));
    requests.back().timeout = kLog;
    requests.back().most_body = kMostRead;
  }
  std::vector<Result<std::string>> logs;
  for (const auto& answer : client_->FetchAll(requests, stop)) {
    logs.push_back(CheckAnswer(answer).map([&] {
      std::string text = TextOf(ParseJson(answer->body), "logs");
      if (text.size() > kMostLog) text.erase(0, text.size() - kMostLog);
      return text;
    }));
  }
  return logs;
}

std::vector<Result<bool>> JobApi::HaveLog(const std::vector<std::string>& node_ids,
                                          const std::string& name) const {
  std::vector<HttpRequest> requests;
  for (const std::string& id : node_ids) {
    requests.push_back(Ask("GET", "api/v0/logs?node_id=" + PercentEncode(id) + "&glob=" + name));
    requests.back().timeout = kQuickly;
  }
  std::vector<Result<bool>> have;
  for (const auto& answer : client_->FetchAll(requests)) {
    have.push_back(CheckAnswer(answer).map([&] {
      // Lists of names, by their kind.
      const json body = ParseJson(answer->body);
      const json& kinds = JsonMember(JsonMember(body, "data"), "result");
      return !kinds.is_object() ||
             std::ranges::any_of(kinds, [](const json& kind) { return !kind.empty(); });
    }));
  }
  return have;
}

void JobApi::ForEach(const std::string& method, const std::vector<std::string>& ids,
                     const std::string& after) const {
  std::vector<HttpRequest> requests;
  for (const std::string& id : ids) {
    requests.push_back(Ask(method, "api/jobs/" + id + after));
    requests.back().timeout = kQuickly;
  }
  client_->FetchAll(requests);
}

void JobApi::Stop(const std::vector<std::string>& ids) const { ForEach("POST", ids, "/stop"); }
void JobApi::Delete(const std::vector<std::string>& ids) const { ForEach("DELETE", ids, ""); }

// Without `timeout` Ray cuts a transfer after 30 s, without `lines` it sends the last 1000 lines,
// and without `format` old versions put a "1" before each chunk.
HttpRequest JobApi::LogRequest(const std::string& which) const {
  HttpRequest request =
      Ask("GET", "api/v0/logs/file?" + which + "&lines=-1&timeout=3600&format=text");
  request.timeout = kTransfer;
  request.idle_timeout = kIdle;
  return request;
}

Result<std::string> JobApi::ReadLog(const RayNode& node, const std::string& name, uint64_t most,
                                    const std::stop_token& stop) const {
  return std::move(ReadLogs({node.id}, name, most, stop).front());
}

std::vector<Result<std::string>> JobApi::ReadLogs(const std::vector<std::string>& node_ids,
                                                  const std::string& name, uint64_t most,
                                                  const std::stop_token& stop) const {
  std::vector<HttpRequest> requests;
  for (const std::string& id : node_ids) {
    requests.push_back(
        LogRequest("node_id=" + PercentEncode(id) + "&filename=" + PercentEncode(name)));
    requests.back().most_body = most;
  }
  std::vector<Result<std::string>> texts;
  for (auto& answer : client_->FetchAll(requests, stop))
    texts.push_back(CheckAnswer(answer).map([&] { return std::move(answer->body); }));
  return texts;
}

}  // namespace tacho
