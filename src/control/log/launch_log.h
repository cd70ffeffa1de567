#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The servers in a launch log. The last line of a kind wins: logs are appended to, and a restarted
// router has a new port. Hosts stay as in the log.
struct LaunchLog {
  struct Server {
    std::string url;
    uint64_t line = 0;  // from 1
  };
  std::vector<Server> routers;  // distinct ones, in the order of their last line; the last wins
  std::vector<Server> engines;  // one for each engine number or address
  bool empty() const { return routers.empty() && engines.empty(); }
};

// Reads a log of slime, vime, vLLM, SGLang or a router; colours are ignored. Cost: one pass.
LaunchLog ReadLaunchLog(std::string_view text);

}  // namespace tacho
