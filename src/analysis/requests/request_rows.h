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
  kClock,     // its times, or the times of many requests of its engine, contradict those of the
              // engine's steps by more than the clocks' error
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
  size_t number = 0;  // index into RequestTable::rows
  // Both begin when the request was due. `ttft` ends with the first token, `e2e` with the last one
  // or, if not `whole`, with the end of the request. `ttft_parts` add up to `ttft`, `parts` to
  // `e2e`.
  std::optional<DurationNs> ttft;
  DurationNs e2e;
  RequestParts parts, ttft_parts;
  RequestLacks lacks = RequestLacks::kNothing;
  bool sure = false;  // the steps that read the prompt and that made each token are all known
  // The part of `parts`' unknown time that lies before the first or after the last recorded step.
  DurationNs outside;
  // The rest is set only if `lacks` is kNothing.
  std::optional<uint32_t> trace;  // of the engine
  // The request's first and last step; they mean something only if `steps_known`.
  bool steps_known = false;
  uint32_t first_step = 0, last_step = 0;
  // True: the prompt was read by exactly the steps of [first_step, token_step] that read prompts.
  bool reads_known = false;
  uint32_t token_step = 0;

  // Whether its time is split, and all of it lies in the recording.
  [[nodiscard]] bool inside() const { return lacks == RequestLacks::kNothing && outside.ns == 0; }
};

// The requests of a load, and all that is needed to split their time.
struct RequestInput {
  const RequestTable* table = nullptr;
  const RequestJoin* join = nullptr;
  std::vector<const TraceDigest*> digests;  // by trace of the run; null if it has no digest
  std::vector<std::string> engine_names;    // by index into RequestJoin::engines
  // By trace of the run: what SkewOfCells returned for it; empty if not known. The pointer is null
  // if it is not known for any trace.
  const std::vector<std::vector<DurationNs>>* skew = nullptr;
};
struct RequestRows {
  std::vector<RequestRow> rows;  // in the order of the table, without requests that were never sent
  std::optional<DurationNs> clock_error;  // the largest error among the engines
  // On some engine, the times of many requests contradict those of its steps, so the join is wrong
  // there. This happens if an engine reads preempted requests again. No request of such an engine
  // is split.
  bool contradiction = false;
};
// Cost: O(tokens + steps).
RequestRows SplitRows(const RequestInput& input);

// Everything that is known about one request.
struct RequestDetail {
  struct Chunk {
    TimeNs seen;  // by the client, on the clock of the engine's trace
    uint32_t tokens = 0;
    // The first and the last step that may have made its last token; absent: not known, or not
    // recorded.
    std::optional<uint32_t> step, step_at_most;
    RequestParts gap;  // parts of the time since the previous chunk; empty for the first chunk
  };
  TimeNs due, sent;  // on the clock of the engine's trace
  std::vector<Chunk> chunks;
  // The steps that are known to have read its prompt; empty if none is known.
  std::vector<uint32_t> reads;
  bool reads_known = false;  // false: steps before these may have read it too
};
// `request`: index into RequestTable::rows. nullopt if its time cannot be split.
std::optional<RequestDetail> DetailOf(const RequestInput& input, size_t request);

}  // namespace tacho
