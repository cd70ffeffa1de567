#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/options/key_options.h"
#include "cli/options/parse.h"
#include "control/live/profile_control.h"

namespace tacho {

// The options of every command that talks to engines.
struct RemoteOptions {
  ServerOptions server;
  std::string timeout = "0";  // 0: unlimited

  OptionGroup Rows();
  Result<HttpClientOptions> Http() const { return server.Http({"TACHO_API_KEY"}); }
};

// Concatenates rows.
std::vector<OptionRow> With(std::vector<OptionRow> rows, std::vector<OptionRow> more);

// The profiler options of every command that starts profilers.
struct StartOptions {
  std::optional<int64_t> steps;
  std::string output_dir;
  std::vector<std::string> fields;      // for the start request, NAME=VALUE each; NAME alone: true
  std::vector<std::string> activities;  // given by --activities, as in profile_rollout.py
  bool by_stage = false, with_stack = false, record_shapes = false;

  bool operator==(const StartOptions&) const = default;
  std::vector<OptionRow> Rows();
  // The options as a ProfileOptions, without a session key. kUsage: an entry of `fields` has no
  // name, or two entries have the same name.
  Result<ProfileOptions> Profile() const;
};

struct EngineOptions {
  std::vector<std::string> words;  // the action, then targets
  RemoteOptions remote;
  bool json = false;
  // Options of `start`:
  std::string key;
  StartOptions profile;
  bool force = false;
  std::optional<int64_t> level;  // for `sleep`
  // Options of `hold`:
  std::optional<int64_t> least_workers;
  bool wake = false, quiet = false;
  std::string ready_within = "30m", hold_for = "0";  // 0: without end
  std::vector<std::string> command;                  // after "--"
  // Options of tools/profile_rollout.py:
  std::string router_url, action;

  std::string Action() const;
  std::vector<std::string> Targets() const;
};
// What `tacho engine` can do: "list", "status", ...
const std::vector<std::string>& EngineActions();
// The command with only the options of `action`; "": with the options of all actions.
CommandSpec EngineSpec(EngineOptions& options, const std::string& action = {});
Result<void> CheckEngineOptions(const EngineOptions& options);

}  // namespace tacho
