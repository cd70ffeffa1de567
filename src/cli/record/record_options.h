#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/engine/engine_options.h"
#include "cli/launch/launch_options.h"
#include "cli/options/parse.h"
#include "session/recording_options.h"

namespace tacho {

// The options of a recording apart from its load, for every command that records.
struct SessionArguments {
  StartOptions profile;
  std::string out = ".", trace_dir;
  std::vector<std::string> maps, collect_from, engine_logs;
  std::string budget_bytes, budget_flush;  // "": the default
  bool keep_going = false;

  bool operator==(const SessionArguments&) const = default;
  std::vector<OptionRow> BudgetRows();
  std::vector<OptionRow> TraceRows();
  OptionRow KeepGoingRow();
  // kUsage with what is wrong.
  Result<void> PutInto(RecordOptions& options) const;
};

// The command line of `tacho record`.
struct RecordArguments {
  std::vector<std::string> targets;
  std::string command;  // as kept in the run folder
  RemoteOptions remote;
  SessionArguments session;
  std::string duration, via = "auto";  // duration "": at most 10 s, or 60 s with --requests
  // The load:
  bool no_load = false, through_router = false;
  std::string warm_up = "3s", baseline = "5s", mix, records;
  std::optional<int64_t> requests, concurrency, prompt_tokens, output_tokens, seed;
  std::optional<double> rate;
  // How to measure the cost of profiling:
  bool overhead = false;
  std::optional<int64_t> pairs;
  std::string overhead_window, precision;
  // "vllm" or "sglang": the engine to launch for this recording; "": none
  std::string launch;
  EngineArguments engine;
  // A Ray cluster whose nodes keep the traces:
  std::optional<std::string> ray, ray_program;
  std::vector<std::string> fetch;  // ranks, or "all"
  // Other options:
  std::string daemon_socket, nsys_session;
  bool json = false, quiet = false;
};
CommandSpec RecordSpec(RecordArguments& arguments);

// kUsage with what is wrong.
Result<RecordOptions> RecordOptionsOf(const RecordArguments& arguments);

}  // namespace tacho
