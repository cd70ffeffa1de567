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

// What a user asks for.
struct LaunchRequest {
  EngineKind kind = EngineKind::kVllm;
  std::string preset = "light";          // one of Presets()
  std::vector<std::string> environment;  // "NAME=value"
  size_t replicas = 1;
  // The port of the first server. Absent: the one in the engine's words, else a free one.
  std::optional<uint16_t> port;
  bool log_requests = false;
};

// The variable that names the GPUs of an engine.
inline constexpr std::string_view kVisibleGpus = "CUDA_VISIBLE_DEVICES";

// What this host has.
struct LaunchPlace {
  std::string folder;                         // gets logs/ and traces/; absolute
  std::string working;                        // the folder that engines run in; absolute
  std::vector<uint16_t> ports;                // free ones: one for each server, two for a router
  std::vector<std::string> gpus;              // as kVisibleGpus names them; empty: none
  std::string router_program = {};            // for this kind of engine; "": none
  std::vector<std::string> environment = {};  // this process's own: "NAME=value"
  std::vector<std::string> nsys = {};         // words before an engine's command: only preset nsys
};

// One server, as it will be started.
struct PlannedServer {
  std::string name;  // "vllm", "vllm-1", "vllm-router"
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value", added to tacho's own
  std::string url;                       // as it is reached from this host
  uint16_t port = 0;
  std::string traces;  // absolute, or a store (control/engine_folder.h); "" for a router
  std::string log;
};

struct PlannedLaunch {
  EngineKind kind = EngineKind::kVllm;
  std::string version, preset;
  std::vector<PlannedServer> servers;
  std::optional<PlannedServer> router;
  std::vector<Finding> findings;  // what is wrong with the options; blocking ones come first
  std::string record_options;     // options of `tacho record` that belong to the preset
  std::string api_key;            // required by the servers; "": no key. Secret

  // Where requests go.
  [[nodiscard]] const std::string& url() const { return router ? router->url : servers[0].url; }
  // The targets for a recording of all engines.
  [[nodiscard]] std::vector<std::string> targets() const;
};

// "light", "detailed", "deep", "nsys", with what each costs.
struct PresetWords {
  std::string_view name, meaning;
};
const std::vector<PresetWords>& Presets();

// The commands and environments that start the engine so that it can be profiled. The user's own
// arguments, their --config file and the environment win over the preset. kUsage: these contradict
// each other, the engine would not answer plain HTTP at a port, or the host has too few GPUs for so
// many replicas. Pure.
Result<PlannedLaunch> PlanLaunch(const LaunchRequest& request, const EngineProgram& program,
                                 const LaunchPlace& place);

// The port that the user chose, in an option of tacho or in the engine's own arguments. kUsage: the
// two differ, or the value is no port.
Result<std::optional<uint16_t>> AskedPort(const LaunchRequest& request,
                                          const EngineProgram& program);

// A command line in shell syntax, with *** in place of possible secrets: the values of key options,
// of NAME=value where NAME suggests a secret, and the user part of a URL.
std::string ShownWords(const std::vector<std::string>& words);
// The server's command as "NAME=value ... program word ...", shown in the same way.
std::string ShellLine(const PlannedServer& server);

}  // namespace tacho
