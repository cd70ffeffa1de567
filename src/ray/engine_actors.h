#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ray/job_api.h"

namespace tacho {

// The actors of vime and slime that start routers and engines, by class.
bool StartsServers(std::string_view class_name);

// What such an actor logged first, and the address of its node.
struct ActorLog {
  std::string ip, text;
};

// The servers that the logs name, as URLs: distinct, in the order of the logs. An engine that
// listens on all addresses of its node, or on its loopback, has the address of the node.
struct NamedServers {
  std::vector<std::string> routers, engines;
  std::vector<std::string> elsewhere;  // servers that are on none of the nodes
};
NamedServers ServersIn(const std::vector<ActorLog>& logs, const std::vector<RayNode>& nodes);

// What `tacho record` records if no target is given: the URL of the cluster's router, or without
// one, those of its engines. Reads the first 4 MB of the log of each actor. kUsage: there are
// several routers; kRemote: there is nothing to record.
Result<std::vector<std::string>> FindServers(const JobApi& api, const std::vector<RayNode>& nodes,
                                             const std::stop_token& stop);

}  // namespace tacho
