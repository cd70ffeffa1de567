#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace tacho {

// What a report says of a recording, as its run.json has it (docs/json.md). What is not there, or
// is of another type, is absent.
struct KeptTimes {
  int64_t requests = 0;
  DurationNs p50, p99;
};
struct KeptWindow {
  DurationNs duration;
  int64_t requests_done = 0, requests_failed = 0, output_tokens = 0;
  std::optional<double> tokens_per_second = {};
  std::optional<KeptTimes> ttft = {}, tpot = {};
};
struct KeptRecording {
  std::string command, tacho_version;
  int64_t proven = 0, ranks = 0;
  std::optional<double> cost_share = {}, cost_error = {};
  std::optional<KeptWindow> baseline = {}, profiled = {};
  std::vector<std::string> missing = {}, troubles = {}, remarks = {};  // sentences
};
// nullopt: it is no run.json.
std::optional<KeptRecording> KeptRecordingOf(std::string_view run_json);

// The run.json of the recording that PATH is, or whose traces/ it is; "" where there is none.
std::string RunJsonFor(const std::string& path);

}  // namespace tacho
