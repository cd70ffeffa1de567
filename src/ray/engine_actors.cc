#include "ray/engine_actors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "control/log/launch_log.h"
#include "net/url.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostOfLog = 4u << 20;
constexpr std::array<std::string_view, 3> kClasses = {"RolloutManager", "VLLMEngine",
                                                      "SGLangEngine"};

bool IsAnyAddress(const Url& url) {
  return url.host == "0.0.0.0" || url.host == "::" || url.host == "[::]" || url.IsLoopback();
}

std::string HostIn(const std::string& ip) {
  return ip.find(':') == std::string::npos ? ip : "[" + ip + "]";
}

void AddOnce(std::vector<std::string>& urls, const std::string& url) {
  if (std::ranges::find(urls, url) == urls.end()) urls.push_back(url);
}

}  // namespace

bool StartsServers(std::string_view class_name) {
  return std::ranges::find(kClasses, class_name.substr(class_name.rfind('.') + 1)) !=
         kClasses.end();
}

NamedServers ServersIn(const std::vector<ActorLog>& logs, const std::vector<RayNode>& nodes) {
  NamedServers servers;
  const auto add = [&](const ActorLog& log, const std::string& text,
                       std::vector<std::string>& urls) {
    const auto url = ParseUrl(text);
    if (!url) return;
    if (IsAnyAddress(*url)) {
      AddOnce(urls, fmt::format("{}://{}:{}", url->scheme, HostIn(log.ip), url->port));
      return;
    }
    const bool is_ours = std::ranges::any_of(nodes, [&](const RayNode& node) {
      return url->host == node.ip || url->host == HostIn(node.ip) || url->host == node.name;
    });
    AddOnce(is_ours ? urls : servers.elsewhere, url->Origin());
  };
  for (const ActorLog& log : logs) {
    const LaunchLog launch = ReadLaunchLog(log.text);
    for (const LaunchLog::Server& router : launch.routers) add(log, router.url, servers.routers);
    for (const LaunchLog::Server& engine : launch.engines) add(log, engine.url, servers.engines);
  }
  return servers;
}

Result<std::vector<std::string>> FindServers(const JobApi& api, const std::vector<RayNode>& nodes,
                                             const std::stop_token& stop) {
  TACHO_ASSIGN_OR_RETURN(std::vector<RayActor> actors, api.Actors(stop));
  std::erase_if(actors, [](const RayActor& actor) { return !StartsServers(actor.class_name); });
  if (actors.empty()) {
    return Fail(
        ErrorKind::kRemote,
        fmt::format("no engine is found: the cluster has no living actor of the classes {}: "
                    "name the router or the engines",
                    fmt::join(kClasses, ", ")));
  }
  std::vector<ActorLog> logs;
  std::string problem;
  for (const RayActor& actor : actors) {
    const auto node = std::ranges::find(nodes, actor.node_id, &RayNode::id);
    if (node == nodes.end()) continue;
    ActorLog& log = logs.emplace_back(ActorLog{node->ip, ""});
    const auto read = api.StreamErrors(
        actor,
        [&](std::string_view piece) {
          log.text.append(piece.substr(0, kMostOfLog - log.text.size()));
          return log.text.size() < kMostOfLog;
        },
        stop);
    if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
    if (!read && problem.empty())
      problem = fmt::format("; the log of {} cannot be read: {}", VisibleText(actor.class_name),
                            read.error().message);
  }
  const NamedServers servers = ServersIn(logs, nodes);
  if (servers.routers.size() > 1) {
    return Fail(ErrorKind::kUsage,
                fmt::format("the cluster has several routers: {}: name one of them",
                            fmt::join(servers.routers, ", ")));
  }
  if (!servers.routers.empty()) return servers.routers;
  if (!servers.engines.empty()) return servers.engines;
  if (!servers.elsewhere.empty()) {
    return Fail(ErrorKind::kUsage,
                fmt::format("the logs of its actors name {}, which is the address of no node: name "
                            "it yourself if it is yours",
                            fmt::join(servers.elsewhere, ", ")));
  }
  return Fail(
      ErrorKind::kRemote,
      fmt::format("no engine is found: the cluster has {}, and their logs name neither a "
                  "router nor an engine{}: name the router or the engines",
                  FormatCounted(actors.size(), "actor that may have started one"), problem));
}

}  // namespace tacho
