#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The servers that a launch log names. The last line of each kind wins, because logs are appended
// to and a restarted router has a new port. Hosts stay as they are in the log.
struct LaunchLog {
  struct Server {
    std::string url;
    uint64_t line = 0;  // from 1
  };
  // Distinct, in the order of each router's last line; the last one wins.
  std::vector<Server> routers;
  std::vector<Server> engines;  // one for each engine number or address
  bool empty() const { return routers.empty() && engines.empty(); }
};

// Reads a log of slime, vime, vLLM, SGLang or a router; ignores colours. Cost: one pass.
LaunchLog ReadLaunchLog(std::string_view text);

}  // namespace tacho
