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

// Part of a prompt that other requests share: the same seed gives the same tokens.
struct PromptPiece {
  uint64_t seed = 0;
  int64_t tokens = 0;
};

// One request, decided before anything is sent.
struct PlannedRequest {
  uint64_t index = 0;
  std::string scenario;
  int64_t at_ns = 0;  // since the start of the load; with a fixed concurrency: the earliest time
  int64_t prompt_tokens = 0;  // including shared tokens
  int64_t output_tokens = 0;
  uint64_t seed = 0;                // for the prompt's own token ids, which come last
  std::vector<PromptPiece> shared;  // the shared pieces, at its front
  std::string text;                 // from a dataset: the prompt itself, in place of token ids
  bool text_is_messages = false;    // `text` is the JSON of a chat's messages
  std::string model;                // "" for the target's model
  uint64_t session = 0;             // the same for all requests of one conversation
  // From 1 on: the request is sent when the request before it in the plan has ended and the user
  // has paused.
  uint32_t turn = 0;
  int64_t think_ns = 0;
  bool cut = false;  // it was shortened to the model's length
};

struct PlanOptions {
  std::vector<MixPart> mix;              // empty: chat 60, rag 30, code 10
  std::optional<int64_t> prompt_tokens;  // fixed lengths instead of a scenario
  std::optional<int64_t> output_tokens;
  LengthSpread spread;  // the variation of fixed lengths
  // The model's length: longer requests are cut and counted.
  std::optional<int64_t> most_total_tokens;
  double shared_prefix = 0;   // this share of each prompt is common to all requests
  int64_t prefix_tokens = 0;  // length of each prompt's prefix, one of `prefixes`
  uint64_t prefixes = 1;
  std::optional<uint64_t> requests;    // at most
  std::optional<int64_t> duration_ns;  // no request is sent later than this
  // The load has no end of its own: after `duration_ns`, which must be set, the plan repeats with
  // other prompts, round after round.
  bool until_stopped = false;
  // After `duration_ns`, in-flight requests may go on for this long before they are cancelled.
  int64_t grace_ns = 0;
  std::optional<double> rate;  // requests a second; absent: fixed concurrency
  double burstiness = 1;       // of the rate: 1 Poisson, less is burstier, infinity is even
  std::optional<Ramp> ramp;  // instead of the rate; over_s of 0: over all requests or the duration
  std::optional<double> replay_speed;  // replays the dataset's times, this many times as fast
  bool shuffle = true;                 // shuffles a dataset if its times are not replayed
  bool oversample = true;              // starts the dataset again at its end
  uint64_t concurrency = 8;            // maximum in-flight requests; 0: unlimited
  // Models that requests name instead of the target's (LoRA modules), at random or in turn; all
  // requests of a session name the same one.
  std::vector<std::string> models;
  bool models_in_turn = false;
  int64_t think_ns = 0;  // with a fixed concurrency: mean pause of a user, exponential
  uint64_t seed = 0;
  // Changes the prompts' tokens, so that a second run does not hit the prefix cache of the first.
  // Absent: a new one.
  std::optional<uint64_t> salt;

  bool OpenLoop() const { return rate || ramp || replay_speed; }
  bool FixedLengths() const { return prompt_tokens && output_tokens; }
};

// The dataset that a plan was made from.
struct PlannedDataset {
  std::string path;  // "" if unknown
  DatasetKind kind = DatasetKind::kUnknown;
  uint64_t rows = 0;
};

// The requests to send, in order of time. A fixed number of users with a duration but no number of
// requests gets about as many requests as it will need: surplus ones stay unsent, and if more are
// needed the plan repeats, with another salt each time. A plan without an end (`until_stopped`)
// repeats too. Apart from the salt, a plan depends on the options alone; request n depends neither
// on the times nor on the number of requests.
struct LoadPlan {
  PlanOptions options;
  uint64_t salt = 0;
  std::vector<PlannedRequest> requests;
  uint64_t cut_to_model = 0;  // requests shortened to most_total_tokens (`cut`)
  std::optional<PlannedDataset> dataset;
  bool through_router = false;  // the router chooses one of several engines per request

  bool GoesRound() const {
    return !options.requests && !requests.empty() &&
           (options.until_stopped || !options.OpenLoop()) && (options.oversample || !dataset);
  }
};
// The most requests of a plan.
inline constexpr uint64_t kMostRequests = 10'000'000;

// kUsage: options that contradict each other or are out of range.
Result<void> CheckPlan(const PlanOptions& options);
// kUsage as CheckPlan, and for an invalid replay.
Result<LoadPlan> MakePlan(const PlanOptions& options);
// The same with the requests of a dataset. Outputs of unknown length are 256 tokens long.
Result<LoadPlan> MakePlan(const PlanOptions& options, Dataset dataset);

// Puts the rows into the order in which a plan with that seed shuffles them.
void ShuffleRows(Dataset& dataset, uint64_t seed);

// A new salt.
uint64_t FreshSalt();

}  // namespace tacho
