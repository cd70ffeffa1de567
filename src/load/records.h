#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// One reading of both clocks: turns CLOCK_MONOTONIC times into Unix times.
struct ClockPair {
  int64_t monotonic_ns = 0;
  int64_t unix_ns = 0;
};
ClockPair ReadClocks();

enum class RequestStatus { kDone, kFailed, kPartial, kCancelled };

// What happened to one request. Times are CLOCK_MONOTONIC nanoseconds, 0 where it did not come so
// far. load.md A and G.
struct RequestRecord {
  uint64_t index = 0;  // in the plan
  std::string id;      // sent as X-Request-Id
  std::string scenario;
  std::string url;  // of the server that it went to
  int64_t intended_ns = 0, sent_ns = 0, first_byte_ns = 0, first_token_ns = 0, last_token_ns = 0,
          ended_ns = 0;
  RequestStatus status = RequestStatus::kFailed;
  int http_status = 0;
  std::string error;
  int64_t planned_prompt_tokens = 0, planned_output_tokens = 0;
  int64_t prompt_tokens = 0, cached_tokens = -1, output_tokens = 0;  // -1: not told
  std::string finish_reason;
  // One entry a chunk that carried tokens: when, and how many tokens.
  std::vector<int64_t> chunk_ns;
  std::vector<uint32_t> chunk_tokens;
};

}  // namespace tacho
