#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/engine/batcher.h"
#include "simulate/known/known_run.h"

namespace tacho::simulate {

// How the requests reach their engines. The records of requests depend on it.
enum class TrafficFront : uint8_t {
  kDirect,        // each engine has a URL, and requests are sent to it
  kRouter,        // the requests have the URL of a router, which chose the engine
  kDataParallel,  // all engines share one URL, one worker and one clock
};

// Requests at known times through one or several engines. They give the ground truth: which steps
// made which tokens of a request, and how long these steps would have taken without the prompts of
// others. Planned at once, without servers and without waiting.
//
//   const KnownTraffic traffic = *MakeKnownTraffic({.requests = 50, .gap_ns = 4'000'000});
//   const std::string trace = KnownTrace(traffic.engines[0], 0);  // of its rank 0
//   traffic.requests[7].tokens[2].step;  // the step that made the third token of request 7
//
// cli/simulate/traffic_folder.h makes the texts of requests.jsonl and run.json from it.
struct KnownTrafficOptions {
  // Engine, model, ranks, noise, seed and changes of each engine. Its mix has the lengths of
  // prompts and answers and the tokens of a step; its steps and load_seed have no meaning here.
  KnownRunOptions run;
  BatcherLimits limits = {.max_num_seqs = 32, .max_num_batched_tokens = 2048};
  int64_t engines = 1;  // 1 to 64
  TrafficFront front = TrafficFront::kDirect;
  int64_t requests = 200;      // 1 to 100,000
  int64_t gap_ns = 5'000'000;  // mean time between two requests, exponential; 0: all at once
  uint64_t load_seed = 1;  // of the requests, their engines, and all times outside of the engines
  double cached = 0;       // share of the requests that find half of their prompt in the cache
  double failed = 0;  // share of the requests that fail: half of them at once, half in their answer
  double merged = 0.02;  // share of the tokens that come in one chunk with the next token
  double late = 0.05;    // share of the requests that the client hands over late, by up to 3 ms
  int64_t clock_error_ns =
      100'000;  // the bound that the recording states; the true error is within
  // Which part of each engine's steps is recorded: shares of their number.
  double recorded_from = 0, recorded_to = 1;
};

// A step that read a part of a request's prompt.
struct KnownRead {
  int64_t step = 0;  // index into the recorded steps of the engine; below 0 or beyond: not recorded
  int64_t tokens = 0;
};
struct KnownToken {
  int64_t step = 0;     // as in KnownRead
  int64_t made_ns = 0;  // the end of that step, by the clock of the engine's host
  int64_t seen_ns = 0;  // when its chunk reached the client, by the client's clock
};
// Times are Unix nanoseconds of the client's clock, unless a comment says otherwise; 0: never.
struct KnownRequest {
  std::string id;
  std::string scenario;  // "chat" or "rag": rag has prompts four times as long
  int64_t engine = 0;
  bool failed = false;
  int64_t intended_ns = 0, handed_ns = 0, sent_ns = 0, ended_ns = 0;
  int64_t arrived_ns = 0;  // at the engine, by the clock of its host; 0 if it never came there
  int64_t prompt_tokens = 0, cached_tokens = 0, output_tokens = 0;  // as planned
  std::vector<KnownRead> reads;
  std::vector<KnownToken> tokens;  // those that the client got
  // How much longer the steps between its first and last token took because they read prompts of
  // other requests. A step that reads prompts and makes no token of this request counts in full.
  int64_t wait_prefill_ns = 0;
  // Steps between its tokens that it was not in, and that read no prompt: it was preempted.
  int64_t preempted_ns = 0;
};
struct KnownTraffic {
  KnownTrafficOptions options;
  std::vector<KnownRun> engines;
  std::vector<int64_t> first_step;  // by engine: how many of its steps came before the recording
  // By engine: a time of the host's clock is the client's time plus this. `stated_offset_ns` is
  // what the recording says; it is wrong by at most clock_error_ns.
  std::vector<int64_t> true_offset_ns, stated_offset_ns;
  std::vector<KnownRequest> requests;  // by intended time

  // Whether `step` is the index of a recorded step.
  [[nodiscard]] bool IsRecorded(int64_t engine, int64_t step) const {
    return step >= 0 &&
           step < static_cast<int64_t>(engines[static_cast<size_t>(engine)].recording.steps.size());
  }
};

// kUsage: a number outside of its bounds, or what MakeKnownRun refuses. Deterministic. Cost: that
// of MakeKnownRun, and as much again for each step that reads a prompt while answers are made.
Result<KnownTraffic> MakeKnownTraffic(const KnownTrafficOptions& options);

// The truth as JSON: for each request its engine, reads, tokens and wait. Schema: docs/simulate.md.
std::string TrafficTruth(const KnownTraffic& traffic);

// The name of an engine's worker, and of the folder of its traces (traces/WORKER/): "w0".
// Data-parallel engines share one worker.
std::string TrafficWorker(const KnownTraffic& traffic, int64_t engine);

}  // namespace tacho::simulate
