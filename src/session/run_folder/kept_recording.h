#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace tacho {

// What a report says about a recording, read from its run.json (docs/json.md). A value that is
// missing in the file or has another type is absent here.
struct KeptTimes {
  int64_t requests = 0;
  DurationNs p50, p99;
};
struct KeptWindow {
  std::string scenario = {};  // "": all
  DurationNs duration;
  int64_t requests_done = 0, requests_failed = 0, output_tokens = 0;
  std::optional<double> tokens_per_second = {};
  std::optional<KeptTimes> ttft = {}, tpot = {};
  std::vector<KeptWindow> scenarios = {};  // the same for each scenario, if there are several
};
// `change` is profiled / unprofiled - 1; `low` and `high` are its 95 % bounds.
struct KeptChange {
  double change = 0, low = 0, high = 0;
};
struct KeptRecording {
  std::string command, tacho_version;
  int64_t proven = 0, incomplete = 0, ranks = 0;
  std::optional<double> cost_share = {}, cost_error = {};
  std::optional<KeptChange> step_change = {};  // of the time of a step, measured by --overhead
  std::optional<KeptWindow> baseline = {}, profiled = {};
  std::vector<std::string> engines = {};  // the workers' engines ("vllm"), sorted
  std::vector<std::string> models = {};   // the models that they serve, sorted
  std::vector<std::string> missing = {}, troubles = {}, remarks = {};  // sentences
};
// nullopt: the text is not a run.json.
std::optional<KeptRecording> KeptRecordingOf(std::string_view run_json);

// The path of the run.json for PATH, which is the folder of a recording or the traces/ in it; "" if
// there is no run.json.
std::string RunJsonFor(const std::string& path);

// What defines the load of a recording: fields of its plan.json (docs/load.md), with JSON text as
// values. Two runs of the same load have equal fields and values, whatever their seeds. Fields that
// differ from run to run are left out, such as the number of requests of a load that has a
// duration.
using KeptLoad = std::map<std::string, std::string>;
// `plan_facts`: a line from PlanFactsFor. nullopt if the text is not such a line.
std::optional<KeptLoad> KeptLoadOf(std::string_view plan_facts);
// The first line of the recording's plan.json, which holds everything except the list of requests.
// `path` as for RunJsonFor. "" if there is no such file, or if the line has 64 kB or more.
std::string PlanFactsFor(const std::string& path);

}  // namespace tacho
