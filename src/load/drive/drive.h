#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/drive/thread_priority.h"
#include "load/plan/plan.h"
#include "load/result/records.h"
#include "net/http_client.h"

namespace tacho {

// A server, and how it is spoken to.
struct DriveTarget {
  std::string url = {};             // of a worker or a router
  std::string model = {};           // the name that requests carry
  std::string api = "completions";  // "chat"; "generate" is SGLang's own
  // Valid ids to make prompts of. Empty: prompts are words, for an id beyond the vocabulary ends a
  // real SGLang.
  std::vector<int64_t> token_ids = {};
  std::string route = {};  // in place of the API's own: "/v1/completions"
  bool stream = true;
  // Of vLLM: the ids of each chunk's tokens, for routers that keep running totals back. The first
  // chunk then repeats the prompt.
  bool return_token_ids = false;
  bool ignore_eos = true;  // exactly the planned number of tokens comes back
  // JSON objects: fields to add to each request; with SGLang's own API `sampling` goes to its
  // sampling_params.
  std::string sampling = {}, extra_body = {};
  bool keep_text = false;  // the answers, in the records
  // Without a new token, and as a whole: what takes longer is given up.
  std::chrono::milliseconds stall_timeout{600'000}, timeout{21'600'000};
};

struct DriveProgress {
  // waiting: due, but held back by the bound of requests at once.
  std::atomic<uint64_t> running = 0, waiting = 0, done = 0, failed = 0, output_tokens = 0;
};

// How well the client itself kept up.
struct ClientHealth {
  double cpu_share = 0;       // of one core, that its thread used over the whole load
  double most_cpu_share = 0;  // in its busiest second
  int64_t lag_p99_ns = 0;     // how late the thread ran what was due, looked at 20 times a second
  int64_t lag_max_ns = 0;
  Priority priority = Priority::kNormal;  // of its thread
};

struct LoadRecords {
  std::vector<RequestRecord> requests;  // in the order of the plan; those never sent are left out
  std::vector<ClockPair> clocks;        // at the start, each second, and at the end
  int64_t started_ns = 0, ended_ns = 0;
  ClientHealth client;
  std::string ended_early;  // why the load stopped before its plan was through; "" when it did not
  bool broken_off = false;  // by the user, or given up: not for want of planned requests
};

struct DriveOptions {
  std::string id_prefix = {};  // of X-Request-Id, then the index; empty: "tacho-" and 8 hex digits
  bool real_time = true;  // for the client's thread, where permitted, as long as the load is on
};

// Sends the plan to the targets (which request to which: load/drive/lanes.h) and records what comes
// back; returns when all have ended, or soon after `stop` or the plan's duration and grace
// (requests under way are then cancelled and recorded as such). Failures of requests are records,
// not errors. Where a fixed number of users sends, one whose request failed waits before the next:
// as long as Retry-After says (up to a minute), else from 10 ms on twice as long each time in a
// row of its lane's, up to 1 s. Once all that is left is for servers of which nothing ever
// succeeded, the load is given up after some seconds; where something did, after two minutes.
//
// kUsage: no target, an unknown API, an address that is none.
Result<LoadRecords> Drive(HttpClient& client, const LoadPlan& plan,
                          const std::vector<DriveTarget>& targets, DriveProgress& progress,
                          std::stop_token stop = {}, const DriveOptions& options = {});

// One JSON object a line, times in ns with their Unix pair (docs/load.md).
std::string RecordsAsJsonLines(const LoadRecords& records);

}  // namespace tacho
