#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/key_options.h"
#include "cli/parse.h"
#include "control/profile_control.h"

namespace tacho {

// What every command that talks to engines takes.
struct RemoteOptions {
  ServerOptions server;
  std::string timeout = "0";  // 0: as long as it takes

  OptionGroup Rows();
  Result<HttpClientOptions> Http() const { return server.Http({"TACHO_API_KEY"}); }
};

// Rows one behind the other.
std::vector<OptionRow> With(std::vector<OptionRow> rows, std::vector<OptionRow> more);

// What the engines' profilers are asked for, of every command that starts them.
struct StartOptions {
  std::optional<int64_t> steps;
  std::string output_dir;
  std::vector<std::string> fields;      // NAME=VALUE of the start request; NAME alone: true
  std::vector<std::string> activities;  // the same by flags of their own, as profile_rollout.py has
  bool by_stage = false, with_stack = false, record_shapes = false;

  bool operator==(const StartOptions&) const = default;
  std::vector<OptionRow> Rows();
  // Without a key. kUsage: a field without a name, or one that is given twice.
  Result<ProfileOptions> Profile() const;
};

struct EngineOptions {
  std::vector<std::string> words;  // the action, then targets
  RemoteOptions remote;
  bool json = false;
  // start
  std::string key;
  StartOptions profile;
  bool force = false;
  std::optional<int64_t> level;  // sleep
  // tools/profile_rollout.py
  std::string router_url, action;

  std::string Action() const;
  std::vector<std::string> Targets() const;
};
// What `tacho engine` can do: "list", "status", ...
const std::vector<std::string>& EngineActions();
// With the options of `action` alone, or of all actions.
CommandSpec EngineSpec(EngineOptions& options, const std::string& action = {});
Result<void> CheckEngineOptions(const EngineOptions& options);

}  // namespace tacho
