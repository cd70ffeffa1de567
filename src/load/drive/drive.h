#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/drive/thread_priority.h"
#include "load/plan/plan.h"
#include "load/result/records.h"
#include "net/http_client.h"

namespace tacho {

// A server and its API.
struct DriveTarget {
  std::string url = {};             // of a worker or a router
  std::string model = {};           // the name that requests carry
  std::string api = "completions";  // "chat"; "generate" is SGLang's own
  // Valid token ids for prompts. Empty: prompts are words, because an id beyond the vocabulary ends
  // a real SGLang.
  std::vector<int64_t> token_ids = {};
  std::string route = {};  // instead of the API's own route, such as "/v1/completions"
  bool stream = true;
  // vLLM only: requests the token ids of each chunk, for routers that drop running totals. The
  // first chunk then repeats the prompt.
  bool return_token_ids = false;
  bool ignore_eos = true;  // exactly the planned number of tokens comes back
  // JSON objects: fields to add to each request; with SGLang's own API `sampling` goes to its
  // sampling_params.
  std::string sampling = {}, extra_body = {};
  bool keep_text = false;  // keeps the answers in the records
  // Time limits: for the time without a new token, and for the whole request.
  std::chrono::milliseconds stall_timeout{600'000}, timeout{21'600'000};
};

// The progress of the requests to one target.
struct TargetProgress {
  std::atomic<int64_t> last_token_ns = 0;  // CLOCK_MONOTONIC; 0: none came
  std::atomic<uint64_t> failures_in_row = 0, running = 0;
};

struct DriveProgress {
  DriveProgress() = default;
  explicit DriveProgress(size_t count) : targets(count) {}
  std::vector<TargetProgress> targets;  // in the targets' order; empty: not counted by target
  // waiting: due, but held back by the limit of in-flight requests.
  std::atomic<uint64_t> running = 0, waiting = 0, done = 0, failed = 0, output_tokens = 0;
};

// How well the client itself kept up.
struct ClientHealth {
  double cpu_share = 0;       // share of one core that its thread used over the load
  double most_cpu_share = 0;  // the same in its busiest second
  int64_t lag_p99_ns = 0;     // how late the thread ran due jobs, sampled 20 times a second
  int64_t lag_max_ns = 0;
  Priority priority = Priority::kNormal;  // the scheduling of its thread
};

struct LoadRecords {
  std::vector<RequestRecord> requests;  // in the order of the plan; those never sent are left out
  std::vector<ClockPair> clocks;        // at the start, each second, and at the end
  int64_t started_ns = 0, ended_ns = 0;
  ClientHealth client;
  std::string ended_early;  // why the load stopped before the end of its plan; "" if it did not
  // The user broke it off, or it was given up. False if the plan had no more requests.
  bool broken_off = false;
  // When the engines stood still to write their traces (CLOCK_MONOTONIC); both 0: never.
  int64_t flush_from_ns = 0, flush_to_ns = 0;

  // Sets that time, and marks the requests that were in flight during it.
  void MarkFlush(int64_t from_ns, int64_t to_ns);
};

struct DriveOptions {
  std::string id_prefix = {};  // X-Request-Id before the index; "": "tacho-" and 8 hex digits
  // Real-time priority of the client's thread during the load, if permitted.
  bool real_time = true;
};

// Sends the plan to the targets (load/drive/lanes.h chooses them) and records the answers. Returns
// when all have ended, or soon after `stop` or the plan's duration and grace; in-flight requests
// are then cancelled and recorded as such. Failed requests are records, not errors. With a fixed
// number of users, a user whose request failed waits: for the time in Retry-After (up to a minute),
// else 10 ms, doubled for each failure in a row of its lane, up to 1 s. If all remaining requests
// are for failing servers, gives the load up: after some seconds if no request to them ever
// succeeded, else after two minutes.
//
// kUsage: no target, an unknown API, or an invalid address.
Result<LoadRecords> Drive(HttpClient& client, const LoadPlan& plan,
                          const std::vector<DriveTarget>& targets, DriveProgress& progress,
                          std::stop_token stop = {}, const DriveOptions& options = {});

// One JSON object per line for each request, or for each request of `scenario`. Times are in ns
// with their Unix pair (docs/load.md).
std::string RecordsAsJsonLines(const LoadRecords& records,
                               std::optional<std::string_view> scenario = {});

}  // namespace tacho
