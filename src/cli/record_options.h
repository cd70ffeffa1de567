#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/engine_options.h"
#include "cli/parse.h"
#include "session/record.h"

namespace tacho {

// The command line of `tacho record`.
struct RecordArguments {
  std::vector<std::string> targets;
  RemoteOptions remote;
  // what is profiled
  StartOptions profile;
  std::string duration = "10s", via = "auto";
  // load
  bool no_load = false, through_router = false;
  std::string warm_up = "3s", baseline = "5s", mix;
  std::optional<int64_t> requests, concurrency, prompt_tokens, output_tokens, seed;
  std::optional<double> rate;
  // traces
  std::string out = ".", trace_dir, daemon_socket;
  std::vector<std::string> maps, collect_from, engine_logs;
  // other
  bool keep_going = false, json = false, quiet = false;
};
CommandSpec RecordSpec(RecordArguments& arguments);

// kUsage with what is wrong.
Result<RecordOptions> RecordOptionsOf(const RecordArguments& arguments);

}  // namespace tacho
