#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/requests/join.h"
#include "analysis/requests/request_parts.h"
#include "model/requests.h"

namespace tacho {

// Why a request's time is not split by the steps of an engine.
enum class RequestLacks : uint8_t {
  kNothing,
  kTokens,    // no token came
  kTie,       // its tokens fit no steps, or too many
  kRecorded,  // all its tokens were made before or after the recording
  kClock,     // its times, or those of many of its engine, contradict the engine's by more than the
              // clocks' error
  kCount,
};
std::string_view RequestLacksId(RequestLacks lacks);  // "tokens", "tie", ...; "" for kNothing

struct RequestRow {
  std::string id, scenario;
  std::string worker;  // the engine's name; "" if that is not known
  bool whole = false;  // answered as expected, to the end
  bool cancelled = false;
  uint64_t tokens = 0;
  std::optional<int64_t> prompt_tokens;
  size_t number = 0;  // in the table
  // From when the request was due: to its first token, and to its last one (to its end, if it is
  // not whole). The parts add up to these times.
  std::optional<DurationNs> ttft;
  DurationNs e2e;
  RequestParts parts, ttft_parts;
  RequestLacks lacks = RequestLacks::kNothing;
  bool sure = false;    // the step of each token is known, and the steps that read the prompt
  bool inside = false;  // `lacks` is kNothing, and steps of the recording made all its tokens
  // If `lacks` is kNothing: the trace of the engine, and the steps of its first and last token.
  std::optional<uint32_t> trace;
  // `first_step` and `last_step` count only if `steps_known`: then they are the same in all ways in
  // which the request fits.
  bool steps_known = false;
  uint32_t first_step = 0, last_step = 0;
  // Whether it is known which steps read its prompt: those of [first_step, token_step] that read
  // prompts.
  bool reads_known = false;
  uint32_t token_step = 0;
};

// The requests of a load, with what the split of their time is computed from.
struct RequestInput {
  const RequestTable* table = nullptr;
  const RequestJoin* join = nullptr;
  std::vector<const TraceDigest*> digests;  // by trace of the run; null: none
  std::vector<std::string> engine_names;    // by engine of the join
  // By trace of the run: SkewOfCells; null, or empty for a trace: not known.
  const std::vector<std::vector<DurationNs>>* skew = nullptr;
};
struct RequestRows {
  std::vector<RequestRow> rows;  // in the order of the table; those never sent are left out
  std::optional<DurationNs> clock_error;  // the largest of the engines
  // The times of many requests contradict those of their engine, so they were joined wrongly. That
  // happens where preempted requests are read again. No request of these engines is split.
  bool contradiction = false;
};
// Cost: O(tokens + steps).
RequestRows SplitRows(const RequestInput& input);

// Everything about one request, by its number in the table.
struct RequestDetail {
  struct Chunk {
    TimeNs seen;  // on the clock of the engine's trace
    uint32_t tokens = 0;
    // The step that made its last token lies between these two, both included; absent: not known,
    // or not recorded.
    std::optional<uint32_t> step, step_at_most;
    RequestParts gap;  // from the chunk before until this one; empty for the first
  };
  TimeNs due, sent;  // on the clock of the engine's trace
  std::vector<Chunk> chunks;
  // The steps that are known to have read its prompt; empty if none is known.
  std::vector<uint32_t> reads;
  bool reads_known = false;  // false: steps before these may have read it too
};
// nullopt if its time is not split.
std::optional<RequestDetail> DetailOf(const RequestInput& input, size_t request);

}  // namespace tacho
