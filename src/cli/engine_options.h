#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/parse.h"
#include "control/profile_control.h"

namespace tacho {

// What every command that talks to engines takes.
struct RemoteOptions {
  std::string api_key;
  bool insecure = false;
  std::string timeout = "0";  // 0: as long as it takes

  OptionGroup Rows();
};

struct EngineOptions {
  std::vector<std::string> words;  // the action, then targets
  RemoteOptions remote;
  bool json = false;
  // start
  std::string key;
  std::optional<int64_t> steps;
  std::string output_dir;
  std::vector<std::string> activities;
  bool by_stage = false, with_stack = false, record_shapes = false, force = false;
  std::optional<int64_t> level;  // sleep
  // tools/profile_rollout.py
  std::string router_url, action;

  std::string Action() const;
  std::vector<std::string> Targets() const;
  ProfileOptions Profile() const;
};
CommandSpec EngineSpec(EngineOptions& options);
Result<bool> CheckEngineOptions(const EngineOptions& options);

}  // namespace tacho
