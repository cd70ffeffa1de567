#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/plan.h"
#include "load/records.h"
#include "net/http_client.h"

namespace tacho {

struct DriveTarget {
  std::string url;    // of a worker or a router
  std::string model;  // the name that requests carry
  std::string api = "completions";
  std::vector<int64_t> token_ids;  // valid ids to make prompts of; empty: 1000 to 9999
  std::string bearer_key;
};
struct DriveProgress {
  std::atomic<uint64_t> sent = 0, running = 0, done = 0, failed = 0, output_tokens = 0;
};
struct LoadRecords {
  std::vector<RequestRecord> requests;  // in the order of the plan; those never sent are left out
  std::vector<ClockPair> clocks;        // at the start, each second, and at the end
  int64_t started_ns = 0, ended_ns = 0;
  int64_t latest_send_ns = 0;  // the largest sent - intended that the client itself caused
};

// Sends the plan round robin to the targets and records what comes back; returns when all have
// ended, or soon after `stop` or the plan's duration (requests under way are then cancelled and
// recorded as such). Failures of requests are records, not errors.
Result<LoadRecords> Drive(HttpClient& client, const LoadPlan& plan,
                          const std::vector<DriveTarget>& targets, DriveProgress& progress,
                          std::stop_token stop = {});

// One JSON object a line, times in ns with their Unix pair (docs/load.md).
std::string RecordsAsJsonLines(const LoadRecords& records);

}  // namespace tacho
