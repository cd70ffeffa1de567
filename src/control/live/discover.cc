#include "control/live/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "control/log/launch_log.h"
#include "control/router/worker_list.h"
#include "net/url.h"

namespace tacho {

bool MayBeFile(const std::string& target) {
  return target.find("://") == std::string::npos &&
         (target.find('/') != std::string::npos || target.ends_with(".log"));
}

namespace {

namespace fs = std::filesystem;

HttpRequest Get(const Url& url, std::string_view route, std::chrono::milliseconds patience) {
  HttpRequest request;
  request.url = url.With(route);
  request.timeout = patience;
  return request;
}

Worker PlainWorker(std::string url, std::string found_in) {
  return {.url = std::move(url),
          .role = WorkerRole::kRegular,
          .dp_ranks = {},
          .healthy_by_router = true,
          .found_in = std::move(found_in),
          .in_place_of = {}};
}

// Marks the servers as named by the user: the user gave the file that names them.
void NameServers(HttpClient& client, const std::vector<Worker>& workers) {
  for (const Worker& worker : workers)
    if (const auto url = ParseUrl(worker.url)) client.NameServer(*url);
}

// Adds a finding that names the workers behind a router that will be sent the key.
void SayWhoGetsKeys(const HttpClient& client, const std::string& router,
                    const std::vector<Worker>& workers, std::vector<Finding>& findings) {
  std::string who;
  for (const Worker& worker : workers)
    if (const auto url = ParseUrl(worker.url); url && client.KeyUseFor(*url) == KeyUse::kSent)
      who += (who.empty() ? "" : ", ") + worker.url;
  if (!who.empty())
    findings.push_back(
        {FindingId::kKeySentToWorkers, "",
         fmt::format("the key goes to the workers that {} names, too: {}", router, who)});
}

// Adds those workers that are not in the deployment yet; reports the others.
void AddWorkers(Deployment& deployment, std::vector<Worker> found) {
  for (Worker& worker : found) {
    bool known = std::any_of(deployment.workers.begin(), deployment.workers.end(),
                             [&](const Worker& w) { return w.url == worker.url; });
    if (known)
      deployment.findings.push_back(
          {FindingId::kListedTwice, worker.url, "named twice, taken once"});
    else
      deployment.workers.push_back(std::move(worker));
  }
}

// Fails if an answer to /workers shows that nothing can be profiled at this address: it wants a
// key, or redirects.
Result<void> Refusal(const HttpResponse& answer, const std::string& origin) {
  if (std::string remedy = KeyRemedy(answer); !remedy.empty())
    return FailAt(ErrorKind::kRemote, origin + "/workers", std::move(remedy));
  if (answer.status >= 300 && answer.status < 400)
    return FailAt(ErrorKind::kRemote, origin,
                  fmt::format("redirects to {}: name that address instead",
                              FindHeader(answer.headers, "location")));
  return {};
}

// Which router writes such a list. The sglang gateway added worker ids to the list (and removed
// /list_workers); SMG, its successor, also reports each worker's engine.
RouterKind KindOfRouter(std::string_view list) {
  const auto has = [&](std::string_view key) { return list.find(key) != list.npos; };
  return has("\"runtime_type\"") ? RouterKind::kSmg
         : has("\"id\"")         ? RouterKind::kSglangRouter
                                 : RouterKind::kOther;
}

bool SpeaksGrpcAlone(const std::vector<ListedWorker>& listed) {
  return std::ranges::all_of(listed, &ListedWorker::grpc);
}

// Whether a router has a profile route of its own: such a route refuses a GET. (Do not ask a router
// that forwards unknown routes: the GET would start the profiler of an SGLang.)
bool StartsProfilers(HttpClient& client, const Url& router, std::chrono::milliseconds patience,
                     std::stop_token stop) {
  constexpr int kUnauthorized = 401, kForbidden = 403, kWrongMethod = 405;
  const auto answer = client.Fetch(Get(router, "/start_profile", patience), std::move(stop));
  return answer && (answer->status == kWrongMethod || answer->status == kUnauthorized ||
                    answer->status == kForbidden);
}

// The router as a worker that stands for all workers behind it.
Worker InPlaceOfAll(const std::string& router, const std::string& found_in,
                    const std::vector<ListedWorker>& listed) {
  Worker worker = PlainWorker(router, found_in);
  BehindRouter& behind = worker.in_place_of.emplace();
  behind.kind = EngineKind::kSmg;
  behind.model = listed.front().model;
  behind.on_this_host = true;
  behind.engines = static_cast<int>(listed.size());
  behind.tensor_parallel = listed.front().tensor_parallel;
  for (const ListedWorker& one : listed) {
    const size_t scheme = one.url.find("://");
    const auto url = ParseUrl("http://" + one.url.substr(scheme == one.url.npos ? 0 : scheme + 3));
    behind.on_this_host = behind.on_this_host && url && url->IsLoopback();
    if (one.tensor_parallel != behind.tensor_parallel) behind.tensor_parallel.reset();
  }
  return worker;
}

Result<void> AddUrl(HttpClient& client, const std::string& target, bool among_others,
                    Deployment& deployment, std::stop_token stop,
                    std::chrono::milliseconds patience) {
  TACHO_ASSIGN_OR_RETURN(Url url, ParseUrl(SplitRank(target).server));
  // The base URL of an OpenAI client ends in /v1, the server's own URL does not.
  if (url.path == "/v1" || url.path.starts_with("/v1/")) url.path.clear();
  std::string origin = url.Origin();
  client.NameServer(url);
  // Asks for a router's lists first, because a router that forwards all other paths to a worker
  // looks just like that worker.
  std::vector<Result<HttpResponse>> answers =
      client.FetchAll({Get(url, "/workers", patience), Get(url, "/list_workers", patience)}, stop);
  for (const Result<HttpResponse>& answer : answers) {
    if (answer) continue;
    if (!among_others || stop.stop_requested()) return tl::unexpected(answer.error());
    // With several targets, leaves it to the probe to report the failure, so that this target does
    // not hold up the others.
    AddWorkers(deployment, {PlainWorker(origin, ShownUrl(target))});
    return {};
  }
  const HttpResponse& workers = *answers[0];
  const HttpResponse& older = *answers[1];
  TACHO_RETURN_IF_ERROR(Refusal(workers, origin));

  bool has_older = older.status == 200 && ParseWorkerList(older.body);
  std::optional<std::vector<ListedWorker>> listed =
      workers.status == 200 ? ParseWorkerList(workers.body) : std::nullopt;
  std::string route = "/workers";
  if (!listed && has_older) {
    listed = ParseWorkerList(older.body);
    route = "/list_workers";
  }
  if (!listed) {
    AddWorkers(deployment, {PlainWorker(origin, ShownUrl(target))});
    return {};
  }
  if (listed->empty())
    return FailAt(ErrorKind::kRemote, origin,
                  fmt::format("a router without workers: {} is empty; wait until its engines have "
                              "registered",
                              route));
  if (!deployment.router_url.empty() && deployment.router_url != origin)
    deployment.findings.push_back({FindingId::kSeveralRouters,
                                   fmt::format("{} and {}", deployment.router_url, origin),
                                   "two routers; load goes through the last"});
  deployment.router_url = origin;
  // The sglang gateway removed /list_workers when it added ids to its list.
  deployment.router_kind = has_older ? RouterKind::kVllmRouter : KindOfRouter(workers.body);
  const std::string found_in = "router " + origin + route;
  if (deployment.router_kind == RouterKind::kSmg && SpeaksGrpcAlone(*listed) &&
      StartsProfilers(client, url, patience, stop)) {
    AddWorkers(deployment, {InPlaceOfAll(origin, found_in, *listed)});
    return {};
  }
  std::vector<Worker> found = UnifyWorkers(*listed, found_in, deployment.findings);
  SayWhoGetsKeys(client, origin, found, deployment.findings);
  AddWorkers(deployment, std::move(found));
  return {};
}

Result<void> AddFile(HttpClient& client, const std::string& path, Deployment& deployment,
                     std::stop_token stop, std::chrono::milliseconds patience) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file && !file.eof()) return FailAt(ErrorKind::kUnreadable, path, "cannot be read");
  if (std::optional<std::vector<ListedWorker>> listed = ParseTargetList(text);
      listed && !listed->empty()) {
    std::vector<Worker> workers = UnifyWorkers(*listed, path, deployment.findings);
    NameServers(client, workers);
    AddWorkers(deployment, std::move(workers));
    return {};
  }
  LaunchLog log = ReadLaunchLog(text);
  if (!log.routers.empty()) {
    const LaunchLog::Server& last = log.routers.back();
    for (const LaunchLog::Server& router : log.routers)
      if (router.url != last.url)
        deployment.findings.push_back(
            {FindingId::kSeveralRouters, fmt::format("{}:{}", path, router.line),
             fmt::format("router {} is passed over for the later {}", router.url, last.url)});
    TACHO_RETURN_IF_ERROR(WithContext(AddUrl(client, last.url, false, deployment, stop, patience),
                                      fmt::format("{}:{}", path, last.line)));
    return {};
  }
  for (const LaunchLog::Server& engine : log.engines) {
    std::vector<Worker> one = {PlainWorker(engine.url, fmt::format("{}:{}", path, engine.line))};
    NameServers(client, one);
    AddWorkers(deployment, std::move(one));
  }
  if (log.empty())
    return Fail(
        ErrorKind::kUsage,
        fmt::format("{}: neither a list of URLs, nor a Kubernetes list with an address that is "
                    "ready, nor a log that names a router or an engine (\"Router launched at\", "
                    "\"Ports for engine\", \"Starting vLLM server "
                    "on\")",
                    path));
  return {};
}

// Why a target that is not a regular file cannot be an address either; "" if it may be one.
std::string NoAddress(const std::string& target) {
  if (target.find("://") != std::string::npos) return "";
  std::error_code ignored;
  if (fs::is_directory(target, ignored))
    return fmt::format(
        "{} is a folder: give the URL of a router or of an engine, a launch log or a "
        "list of URLs (tacho analyze reads a folder of traces)",
        target);
  if (MayBeFile(target) || target.starts_with('-'))
    return fmt::format("{}: there is no such file, and it is not an http:// address",
                       ShownUrl(target));
  // A host must have a '.' or a port, because otherwise any word would pass as a host.
  if (target.find_first_of(".:") == std::string::npos && target != "localhost")
    return fmt::format("{}: there is no such file; a host of that name would be http://{}:PORT",
                       target, target);
  return "";
}

}  // namespace

Result<Deployment> Discover(HttpClient& client, const std::vector<std::string>& targets,
                            std::stop_token stop, std::chrono::milliseconds patience) {
  Deployment deployment;
  if (targets.empty())
    return Fail(ErrorKind::kUsage,
                "no target: give the URL of a router or of a worker, or a launch log");
  for (const std::string& target : targets) {
    std::error_code ignored;
    bool is_file = fs::is_regular_file(target, ignored);
    if (!is_file) {
      if (std::string objection = NoAddress(target); !objection.empty())
        return Fail(ErrorKind::kUsage, objection);
    }
    Result<void> added =
        is_file ? AddFile(client, target, deployment, stop, patience)
                : AddUrl(client, target, targets.size() > 1, deployment, stop, patience);
    if (!added) {
      Error error = added.error();
      // Mentions files, because a mistyped file name looks like a host.
      if (!is_file && error.kind == ErrorKind::kRemote &&
          target.find_first_of(":/") == std::string::npos)
        error.message += "; nor is there a file of that name";
      return tl::unexpected(error);
    }
  }
  if (deployment.workers.empty()) {
    const auto why = std::ranges::find_if(deployment.findings, [](const Finding& finding) {
      return finding.id == FindingId::kGrpcWorker || finding.id == FindingId::kZmqWorker;
    });
    return FailAt(ErrorKind::kRemote, ShownUrl(targets[0]),
                  "no worker that speaks HTTP" +
                      (why == deployment.findings.end() ? "" : "; " + why->Text()));
  }
  return deployment;
}

}  // namespace tacho
