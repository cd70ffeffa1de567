#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/requests/engine_steps.h"
#include "model/requests.h"

namespace tacho {

// How far the requests of an engine could be joined with its steps, and why no further.
enum class JoinWhy : uint8_t {
  kJoined,
  // Joined, but the engine also served requests that are not in the records: its steps had more
  // requests, or longer prompts, than the records have in flight. So recorded tokens need not
  // account for all tokens of a step, and the steps of fewer tokens are known (Fit::kTied). If the
  // records account for all generated tokens, only prompts are taken to be foreign, and `gapless`
  // is true.
  kOthers,
  kNoWorkers,      // the records do not say which engines they were sent to
  kNoRequests,     // no record of this engine has tokens and times
  kNoSteps,        // its trace has no steps, or none that says how many requests are in it
  kNoClock,        // the clocks of the steps and the requests are not related
  kContradiction,  // no assignment fits: records of another run, a wrong clock, lost steps or
                   // records
  kTooMuch,        // no assignment was found within the bound on the work
};

// What is known about the step that made an output token.
enum class Fit : uint8_t {
  kTied,     // which step it was: no other step fits
  kOneOf,    // it was one of several steps or, if `or_outside`, one that the trace does not have
  kOutside,  // it ran before the first step of the trace or after its last step
  kUnknown,
};
struct TokenSeat {
  Fit fit = Fit::kUnknown;
  bool or_outside = false;  // used with kOneOf only
  // Indices of steps of the request's engine. kTied: both are the step that made the token. kOneOf:
  // the first and the last step that fit; not every step between them need fit. Else both are 0.
  uint32_t first = 0, last = 0;

  bool operator==(const TokenSeat&) const = default;
};
struct JoinedRequest {
  static constexpr uint32_t kNoEngine = 0xffffffff;

  // Index into RequestJoin::engines. kNoEngine: several engines could have served the request. Its
  // tokens are then kUnknown, except that a token is kOutside if it is so on each of these engines.
  uint32_t engine = kNoEngine;
  // One entry for each output token; empty if the record does not say how many there are. If the
  // answer broke off, one for each token that arrived.
  std::vector<TokenSeat> tokens;
};

// The requests of a load joined with the steps of the engines.
//
// No engine writes ids of requests into its trace, so the join is a matching under four rules:
// - A token is made by a step that starts after the request was sent and ends before the token
//   arrived, up to the error of the clocks.
// - The tokens of a request are in the order of the steps.
// - A step that reads prompts makes the first token.
// - Each step makes as many tokens as its annotation says.
// A token is tied if all assignments that meet these rules put it on the same step.
//
// A request pauses if, between its first and its last token, some step generates without it. If
// assignments without pauses exist, only these count: JoinWhy stays kJoined, and `gapless` is true.
// A request may still pause if a step between its tokens has more tokens than requests: such a step
// may read the prompt of a preempted request again.
struct RequestJoin {
  // kJoined if any engine is joined; else the first in the order of JoinWhy among `engine_why`.
  JoinWhy why = JoinWhy::kNoRequests;
  std::vector<JoinEngine> engines;
  std::vector<JoinWhy> engine_why;  // by engine
  // By engine. True: no request paused between its first and its last token, and the ties rest on
  // this assumption. Continuous batching works this way, and all steps and records agree with it.
  std::vector<bool> gapless;
  std::vector<JoinedRequest> requests;  // by index into RequestTable::rows
  // Counts of tokens over all requests. `tokens` counts all but kOutside, so it is `tied` +
  // `one_of` + the number of kUnknown.
  uint64_t tokens = 0, tied = 0, one_of = 0;
  std::optional<DurationNs> clock_error;  // the largest error among the joined engines
};

struct JoinOptions {
  // True: assume that engines may pause requests although their steps do not show it. Then
  // RequestJoin::gapless is false.
  bool may_pause = false;
};

// Joins all requests. Cost: O(tokens log steps) if few tokens fit on more than one step; the search
// for the steps of these few is bounded (kTooMuch). Memory: 28 bytes a token, and what SolveSlots
// takes.
RequestJoin JoinRequests(const RequestTable& requests, std::vector<JoinEngine> engines,
                         const JoinOptions& options = {});

}  // namespace tacho
