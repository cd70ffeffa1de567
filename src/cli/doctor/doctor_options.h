#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/engine/engine_options.h"
#include "cli/options/parse.h"

namespace tacho {

// The command line of `tacho doctor`.
struct DoctorArguments {
  std::vector<std::string> subjects;  // what to examine; empty: this host
  std::vector<std::string> command;   // after "--": a command line to examine
  std::string explain, pages, engine_version, python;
  std::vector<std::string> environment;
  RemoteOptions remote;
  bool json = false, no_progress = false;
};
CommandSpec DoctorSpec(DoctorArguments& arguments);

}  // namespace tacho
