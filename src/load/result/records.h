#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock_pair.h"

namespace tacho {

// Converts `monotonic_ns` to Unix time. Interpolates between the pairs of `clocks`, because the
// Unix clock may be slewed (made faster or slower for a while).
int64_t UnixOf(int64_t monotonic_ns, std::span<const ClockPair> clocks);

enum class RequestStatus {
  kDone,       // answered as expected
  kFailed,     // refused, or an error came instead of the answer or inside it
  kPartial,    // tokens came, but the answer is incomplete or its figures contradict each other
  kCancelled,  // ended by tacho at the end of the load
};
std::string_view StatusName(RequestStatus status);  // "done"

// How the client knows the number of tokens in a chunk.
enum class TokenCounts {
  kNone,      // no chunk came
  kUsage,     // from the running totals in the chunks: exact
  kTokenIds,  // from the ids in each chunk: exact
  kChunks,    // one per chunk with text: a guess, for servers that report neither
};

// The record of one request. Times are CLOCK_MONOTONIC nanoseconds, 0 if the event did not happen.
// The members that every piece of an answer needs come first (HttpSink::kTouched).
struct RequestRecord {
  // One entry per chunk with tokens: its time, and its number of tokens.
  std::vector<int64_t> chunk_ns;
  std::vector<uint32_t> chunk_tokens;
  int64_t first_byte_ns = 0, first_token_ns = 0, last_token_ns = 0, ended_ns = 0;
  // When the first and last chunk with a choice came, with or without tokens; vLLM's client uses
  // these times.
  int64_t first_choice_ns = 0, last_choice_ns = 0;
  int64_t planned_prompt_tokens = 0, planned_output_tokens = 0;
  int64_t prompt_tokens = 0, cached_tokens = -1, output_tokens = 0;  // -1: not reported
  TokenCounts counted_by = TokenCounts::kNone;
  RequestStatus status = RequestStatus::kFailed;
  // Chunks without a time of their own: each arrived together with the next one before the client
  // read it, and the kernel kept only the time of the later one.
  uint32_t unsure_chunks = 0;
  bool first_unsure = false;  // the first chunk, or the one with the first token, is unsure
  bool by_kernel = false;     // times are the kernel's stamps, not the client's
  bool all_unsure = false;    // times are the client's, and the client was late
  bool met_flush = false;     // the request was in flight while the engines wrote their traces
  int http_status = 0;
  // Above 1: the request was sent again, because the server had just closed the kept connection.
  int attempts = 0;
  std::string server_id;  // the engine's own id for the request, from its chunks
  uint64_t index = 0;     // its index in the plan
  std::string id;         // sent as X-Request-Id
  std::string scenario;
  std::string url;          // the server's address
  bool in_session = false;  // the request belongs to a session of several turns
  uint64_t session = 0;
  uint32_t turn = 0;
  // intended: when the schedule wanted the request sent. admitted: when the limit of in-flight
  // requests let it through; the time since intended is the user's queue. handed: when the HTTP
  // client got it; the time since admitted is our own delay. sent: when its connection was open;
  // the time since handed is mostly a new connection, if any.
  int64_t intended_ns = 0, admitted_ns = 0, handed_ns = 0, sent_ns = 0;
  std::string error;
  std::string finish_reason;
  std::string text;  // the answer, if keep_text was set
};

}  // namespace tacho
