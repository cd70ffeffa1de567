#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/plan/arrivals.h"
#include "load/plan/dataset.h"
#include "load/plan/length_spread.h"
#include "load/plan/scenario.h"

namespace tacho {

// A part of a prompt that several requests share: the same seed gives the same tokens.
struct PromptPiece {
  uint64_t seed = 0;
  int64_t tokens = 0;
};

// One request; all of this is decided before anything is sent.
struct PlannedRequest {
  uint64_t index = 0;
  std::string scenario;
  int64_t at_ns = 0;          // since the load's start; with a fixed concurrency the earliest time
  int64_t prompt_tokens = 0;  // including shared tokens
  int64_t output_tokens = 0;
  uint64_t seed = 0;  // for the part of the prompt that is not shared, which comes last
  std::vector<PromptPiece> shared;  // the shared pieces at the prompt's front
  std::string text;  // the prompt itself, if it comes from a dataset; replaces token ids
  bool text_is_messages = false;  // `text` is the JSON of a chat's messages
  std::string model;              // "" for the target's model
  uint64_t session = 0;           // the same for all requests of one conversation
  // 0 for a request that waits for no other. From 1 on: the request is sent when the request before
  // it in the plan has ended and the user has paused for `think_ns`.
  uint32_t turn = 0;
  int64_t think_ns = 0;
  bool cut = false;  // the request was shortened to the model's context length
};

struct PlanOptions {
  std::vector<MixPart> mix;              // if empty: chat 60, rag 30, code 10
  std::optional<int64_t> prompt_tokens;  // fixed lengths that replace those of scenarios
  std::optional<int64_t> output_tokens;
  LengthSpread spread;  // how much fixed lengths vary
  // The model's context length: longer requests are cut and counted.
  std::optional<int64_t> most_total_tokens;
  double shared_prefix = 0;   // share of each prompt that is the same in all requests
  int64_t prefix_tokens = 0;  // length of each prompt's prefix, which is one of `prefixes`
  uint64_t prefixes = 1;
  std::optional<uint64_t> requests;    // at most this many
  std::optional<int64_t> duration_ns;  // no request is sent after this time
  // The load goes on until it is stopped: after each `duration_ns`, which must be set, the plan
  // repeats with other prompts.
  bool until_stopped = false;
  // After `duration_ns`, in-flight requests may go on for this long before they are cancelled.
  int64_t grace_ns = 0;
  std::optional<double> rate;  // requests per second; absent: a fixed concurrency
  double burstiness = 1;       // of the arrivals: 1 is Poisson, less is burstier, infinity is even
  // Replaces `rate`. An over_s of 0 spreads the ramp over all requests or the duration.
  std::optional<Ramp> ramp;
  std::optional<double> replay_speed;  // replays the dataset's times this many times as fast
  bool shuffle = true;                 // shuffles a dataset, unless its times are replayed
  bool oversample = true;              // restarts the dataset when it ends
  uint64_t concurrency = 8;            // maximum in-flight requests; 0: unlimited
  // Models (LoRA modules) that requests name instead of the target's model, at random or in turn.
  // All requests of a session name the same one.
  std::vector<std::string> models;
  bool models_in_turn = false;
  // With a fixed concurrency: mean pause of a user, exponentially distributed.
  int64_t think_ns = 0;
  uint64_t seed = 0;
  // Changes the prompts' tokens, so that a second run does not hit the first run's prefix cache.
  // Absent: the plan draws a new salt.
  std::optional<uint64_t> salt;

  bool OpenLoop() const { return rate || ramp || replay_speed; }
  bool FixedLengths() const { return prompt_tokens && output_tokens; }
};

// The dataset from which a plan was made.
struct PlannedDataset {
  std::string path;  // "" if unknown
  DatasetKind kind = DatasetKind::kUnknown;
  uint64_t rows = 0;
};

// The requests to send, in order of time. With a fixed number of users and a duration, but no
// number of requests, the plan holds about as many requests as needed: surplus ones stay unsent,
// and if more are needed the plan repeats, with another salt each time. A plan without an end
// (`until_stopped`) repeats too. Apart from the salt, a plan depends only on the options; a request
// depends neither on the times nor on the number of requests.
struct LoadPlan {
  PlanOptions options;
  uint64_t salt = 0;
  std::vector<PlannedRequest> requests;
  uint64_t cut_to_model = 0;  // requests that were shortened to most_total_tokens (`cut`)
  std::optional<PlannedDataset> dataset;
  bool through_router = false;  // a router chooses one of several engines for each request

  bool GoesRound() const {
    return !options.requests && !requests.empty() &&
           (options.until_stopped || !options.OpenLoop()) && (options.oversample || !dataset);
  }
};
// A plan has at most this many requests.
inline constexpr uint64_t kMostRequests = 10'000'000;

// kUsage: options that contradict each other or are out of range.
Result<void> CheckPlan(const PlanOptions& options);
// kUsage: as in CheckPlan, or an invalid replay.
Result<LoadPlan> MakePlan(const PlanOptions& options);
// Takes the requests from a dataset. If an output's length is unknown, it is 256 tokens.
Result<LoadPlan> MakePlan(const PlanOptions& options, Dataset dataset);

// Puts the rows into the order in which a plan with this seed would shuffle them.
void ShuffleRows(Dataset& dataset, uint64_t seed);

// A random salt.
uint64_t FreshSalt();

}  // namespace tacho
