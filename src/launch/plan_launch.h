#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/engine.h"
#include "control/finding.h"
#include "launch/engine_program.h"

namespace tacho {

// What the user asked for.
struct LaunchRequest {
  EngineKind kind = EngineKind::kVllm;
  std::string preset = "light";          // one of Presets()
  std::vector<std::string> environment;  // "NAME=value"
  size_t replicas = 1;
  // The port of the first server. Absent: the port in the engine's words, else a free one.
  std::optional<uint16_t> port;
  bool log_requests = false;
};

// The variable that names the GPUs of an engine.
inline constexpr std::string_view kVisibleGpus = "CUDA_VISIBLE_DEVICES";

// What this host offers.
struct LaunchPlace {
  std::string folder;               // will hold logs/ and traces/; absolute
  std::string working;              // the folder that engines run in; absolute
  std::vector<uint16_t> ports;      // free ports: one for each server, two for a router
  std::vector<std::string> gpus;    // in the form of kVisibleGpus; empty: no GPU
  std::string router_program = {};  // the router for this kind of engine; "": not installed
  std::vector<std::string> environment = {};  // this process's own: "NAME=value"
  // For the preset nsys: words to put before an engine's command.
  std::vector<std::string> nsys = {};
};

// One server, as it will be started.
struct PlannedServer {
  std::string name;  // "vllm", "vllm-1", "vllm-router"
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value", added to tacho's own
  std::string url;                       // its address from this host
  uint16_t port = 0;
  std::string traces;  // absolute, or an object store (control/engine_folder.h); "" for a router
  std::string log;
};

struct PlannedLaunch {
  EngineKind kind = EngineKind::kVllm;
  std::string version, preset;
  std::vector<PlannedServer> servers;
  std::optional<PlannedServer> router;
  std::vector<Finding> findings;  // what is wrong with the options; blocking ones come first
  std::string record_options;     // options for `tacho record` that suit the preset
  std::string api_key;            // the key that the servers require; "": none. Secret

  // The URL to which requests go.
  [[nodiscard]] const std::string& url() const { return router ? router->url : servers[0].url; }
  // The targets to give for a recording of all engines.
  [[nodiscard]] std::vector<std::string> targets() const;
};

// One preset ("light", "detailed", "deep" or "nsys"), and what it costs.
struct PresetWords {
  std::string_view name, meaning;
};
const std::vector<PresetWords>& Presets();

// Plans the commands and environments that start the engine so that it can be profiled. The user's
// arguments, their --config file and the environment win over the preset. kUsage: the options
// exclude plain HTTP at a port, or the host has too few GPUs for all replicas. A pure function.
Result<PlannedLaunch> PlanLaunch(const LaunchRequest& request, const EngineProgram& program,
                                 const LaunchPlace& place);

// The port that the user chose, in an option of tacho or in the engine's arguments; nullopt if
// none. kUsage: the two differ, or the value is not a port.
Result<std::optional<uint16_t>> AskedPort(const LaunchRequest& request,
                                          const EngineProgram& program);

// A command line in shell syntax, with *** for possible secrets: the value of a key option, the
// value in NAME=value if NAME suggests a secret, and the user part of a URL.
std::string ShownWords(const std::vector<std::string>& words);
// The server's command as "NAME=value ... program word ...", with secrets hidden in the same way.
std::string ShellLine(const PlannedServer& server);

}  // namespace tacho
