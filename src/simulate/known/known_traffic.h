#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/engine/batcher.h"
#include "simulate/known/known_run.h"

namespace tacho::simulate {

// How the requests reach the engines. It decides which URL and clock the requests' records have.
enum class TrafficFront : uint8_t {
  kDirect,        // each engine has a URL, to which requests are sent
  kRouter,        // requests have the URL of a router, which chose the engine
  kDataParallel,  // all engines share one URL, one worker and one clock
};

// Sends requests at known times through one or several simulated engines. The result says which
// steps made which tokens of a request, and how long these steps would have taken without the
// prompts of other requests. It is planned at once, without servers and without waiting.
//
//  const KnownTraffic traffic = *MakeKnownTraffic({.requests = 50, .gap_ns = 4'000'000});
//  const std::string trace = KnownTrace(traffic.engines[0], 0);  // of its rank 0
//  traffic.requests[7].tokens[2].step;  // the step that made the third token of request 7
//
// cli/simulate/traffic_folder.h turns it into the texts of requests.jsonl and run.json.
struct KnownTrafficOptions {
  // Engine, model, ranks, noise, seed and changes of each engine. `run.mix` gives the lengths of
  // prompts and answers and the tokens of a step; `run.steps` and `run.load_seed` have no effect.
  KnownRunOptions run;
  BatcherLimits limits = {.max_num_seqs = 32, .max_num_batched_tokens = 2048};
  int64_t engines = 1;  // 1 to 64
  TrafficFront front = TrafficFront::kDirect;
  int64_t requests = 200;  // 1 to 100,000
  // Mean time between two requests, exponentially distributed; 0: all at once.
  int64_t gap_ns = 5'000'000;
  uint64_t load_seed = 1;  // for the requests, their engines, and all times outside the engines
  double cached = 0;       // share of the requests that find half of their prompt cached
  // Share of the requests that fail: half of these at once, half during their answer.
  double failed = 0;
  double merged = 0.02;  // share of the tokens that come in the same chunk as the next token
  double late = 0.05;    // share of the requests that the client sends late, by up to 3 ms
  // The clock error that the recording states as its bound; the true error is smaller.
  int64_t clock_error_ns = 100'000;
  // Which part of each engine's steps is recorded, as shares of their number.
  double recorded_from = 0, recorded_to = 1;
};

// A step that read part of a request's prompt.
struct KnownRead {
  // Index into the engine's recorded steps; outside of them: the step was not recorded.
  int64_t step = 0;
  int64_t tokens = 0;
};
struct KnownToken {
  int64_t step = 0;     // index, as in KnownRead
  int64_t made_ns = 0;  // when that step ended, by the clock of the engine's host
  int64_t seen_ns = 0;  // when the token's chunk reached the client, by the client's clock
};
// Times are Unix nanoseconds of the client's clock, unless a comment says otherwise; 0: never.
struct KnownRequest {
  std::string id;
  std::string scenario;  // "chat", or "rag", whose prompts are four times as long
  int64_t engine = 0;
  bool failed = false;
  int64_t intended_ns = 0, handed_ns = 0, sent_ns = 0, ended_ns = 0;
  // When it reached the engine, by the clock of the engine's host; 0: it never did.
  int64_t arrived_ns = 0;
  int64_t prompt_tokens = 0, cached_tokens = 0, output_tokens = 0;  // as planned
  std::vector<KnownRead> reads;
  std::vector<KnownToken> tokens;  // the tokens that the client got
  // How much longer the steps between the request's first and last token took because they read
  // prompts of other requests. A step that reads prompts and makes no token of this request counts
  // in full.
  int64_t wait_prefill_ns = 0;
  // The time for which the request was preempted: the time of the steps between its tokens that did
  // not include it and read no prompt.
  int64_t preempted_ns = 0;
};
struct KnownTraffic {
  KnownTrafficOptions options;
  std::vector<KnownRun> engines;
  std::vector<int64_t> first_step;  // by engine: number of its steps before the recording
  // By engine: the time of its host's clock minus the time of the client's clock.
  // `stated_offset_ns`: the same as the recording states it, wrong by at most clock_error_ns.
  std::vector<int64_t> true_offset_ns, stated_offset_ns;
  std::vector<KnownRequest> requests;  // sorted by intended time

  // Whether `step` is the index of a recorded step.
  [[nodiscard]] bool IsRecorded(int64_t engine, int64_t step) const {
    return step >= 0 &&
           step < static_cast<int64_t>(engines[static_cast<size_t>(engine)].recording.steps.size());
  }
};

// kUsage: a number out of bounds, or what MakeKnownRun refuses. Deterministic. Cost: that of
// MakeKnownRun, and twice that for each step that reads a prompt while answers are made.
Result<KnownTraffic> MakeKnownTraffic(const KnownTrafficOptions& options);

// The truth as JSON: each request's engine, reads, tokens and wait. Schema: docs/simulate.md.
std::string TrafficTruth(const KnownTraffic& traffic);

// The name of an engine's worker and of the folder of its traces (traces/WORKER/): "w0".
// Data-parallel engines share one worker.
std::string TrafficWorker(const KnownTraffic& traffic, int64_t engine);

}  // namespace tacho::simulate
