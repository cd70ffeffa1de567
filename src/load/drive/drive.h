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
  std::string url = {};             // address of a worker or a router
  std::string model = {};           // the name that requests carry
  std::string api = "completions";  // or "chat"; or "generate", SGLang's own API
  // Valid token ids for prompts. If empty, prompts are words, because an id beyond the vocabulary
  // makes a real SGLang exit.
  std::vector<int64_t> token_ids = {};
  std::string route = {};  // replaces the API's own route, such as "/v1/completions"
  bool stream = true;
  // vLLM only: requests the token ids of each chunk, for routers that drop running totals. The
  // first chunk of each answer then repeats the prompt.
  bool return_token_ids = false;
  bool ignore_eos = true;  // makes exactly the planned number of tokens come back
  // JSON objects with fields to add to each request. With SGLang's own API, `sampling` goes into
  // sampling_params.
  std::string sampling = {}, extra_body = {};
  bool keep_text = false;  // keeps the answers in the records
  // Limits on the time without a new token, and on the time of the whole request.
  std::chrono::milliseconds stall_timeout{600'000}, timeout{21'600'000};
};

// The progress of the requests to one target.
struct TargetProgress {
  std::atomic<int64_t> last_token_ns = 0;  // CLOCK_MONOTONIC; 0: no token came yet
  std::atomic<uint64_t> failures_in_row = 0, running = 0;
};

struct DriveProgress {
  DriveProgress() = default;
  explicit DriveProgress(size_t count) : targets(count) {}
  std::vector<TargetProgress> targets;  // in the order of the targets; empty: not counted by target
  // `waiting`: due requests that the limit of in-flight requests holds back.
  std::atomic<uint64_t> running = 0, waiting = 0, done = 0, failed = 0, output_tokens = 0;
};

// How well the client itself kept up.
struct ClientHealth {
  double cpu_share = 0;       // share of one core that the client's thread used during the load
  double most_cpu_share = 0;  // the same share in the thread's busiest second
  int64_t lag_p99_ns = 0;     // how late the thread ran due jobs; sampled 20 times a second
  int64_t lag_max_ns = 0;
  Priority priority = Priority::kNormal;  // scheduling of the client's thread
};

struct LoadRecords {
  // In the order of the plan; without requests that were never sent.
  std::vector<RequestRecord> requests;
  std::vector<ClockPair> clocks;  // read at the start, each second, and at the end
  int64_t started_ns = 0, ended_ns = 0;
  ClientHealth client;
  std::string ended_early;  // why the load stopped before its plan was done; "" if it did not
  // The user interrupted the load, or it was given up. False if the plan just ran out of requests.
  bool broken_off = false;
  // When the engines paused to write their traces (CLOCK_MONOTONIC); both 0: never.
  int64_t flush_from_ns = 0, flush_to_ns = 0;

  // Sets `flush_from_ns` and `flush_to_ns`, and marks the requests that were in flight between
  // them.
  void MarkFlush(int64_t from_ns, int64_t to_ns);
};

struct DriveOptions {
  // Put before the index in X-Request-Id; "": "tacho-" and 8 hex digits.
  std::string id_prefix = {};
  // Runs the client's thread with real-time priority during the load, if permitted.
  bool real_time = true;
};

// Sends the plan's requests to the targets (load/drive/lanes.h chooses among them) and records the
// answers. Returns when all requests have ended, or soon after `stop` or the plan's duration and
// grace; requests still in flight are then cancelled and recorded as cancelled. Failed requests are
// records, not errors.
//
// With a fixed number of users, a user whose request failed pauses before the next one: for the
// time in Retry-After (up to a minute), else for 10 ms, doubled with each further failure in a row
// in the same lane (lanes.h), up to 1 s. If all remaining requests are for failing servers, the
// load is given up: after some seconds if no request to those servers ever succeeded, else after
// two minutes.
//
// kUsage: no target, an unknown API, or an invalid address.
Result<LoadRecords> Drive(HttpClient& client, const LoadPlan& plan,
                          const std::vector<DriveTarget>& targets, DriveProgress& progress,
                          std::stop_token stop = {}, const DriveOptions& options = {});

// One line of JSON per request, or per request of `scenario`. Times are monotonic and in ns; those
// of sending and end are also given as Unix time (docs/load.md).
std::string RecordsAsJsonLines(const LoadRecords& records,
                               std::optional<std::string_view> scenario = {});

}  // namespace tacho
