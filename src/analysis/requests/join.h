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
  // Joined, but the engine served other requests too: more requests were in its steps than the
  // records have in flight, or longer prompts. So a step need not be filled by recorded tokens, and
  // fewer are tied. If all steps that generate fit the records, only prompts are taken to be of
  // others (`gapless` says so).
  kOthers,
  kNoRequests,     // no record of this engine has tokens and times
  kNoSteps,        // its trace has no steps, or none that says how many requests are in it
  kNoClock,        // no common time of the steps and the requests
  kContradiction,  // no assignment fits: records of another run, a wrong clock, lost steps or
                   // records
  kTooMuch,        // no assignment was found within the bound on the work
};

// Where an output token was made.
enum class Fit : uint8_t {
  kTied,     // by one step: no other step fits
  kOneOf,    // by one of several steps; or, if `or_outside`, by a step that the trace does not have
  kOutside,  // before the first step of the trace or after its last step
  kUnknown,
};
struct TokenSeat {
  Fit fit = Fit::kUnknown;
  bool or_outside = false;  // of kOneOf only
  // Steps of the request's engine. kTied: both are the step. kOneOf: the range of the steps that
  // fit, inclusive; a step inside of the range may not fit. Else 0.
  uint32_t first = 0, last = 0;

  bool operator==(const TokenSeat&) const = default;
};
struct JoinedRequest {
  static constexpr uint32_t kNoEngine = 0xffffffff;

  // Index into RequestJoin::engines; kNoEngine: not known, and then all tokens are kUnknown or, if
  // that holds on all engines that it may have been at, kOutside. An engine is known only if no
  // other engine could have served the request.
  uint32_t engine = kNoEngine;
  // By output token; empty if the record does not say how many there are. A record without a whole
  // answer has the tokens that arrived.
  std::vector<TokenSeat> tokens;
};

// The requests of a load joined with the steps of the engines.
//
// No engine writes ids of requests into its trace, so the join is a matching. A token fits on a
// step that starts after the request was sent and ends before the token arrived (by clocks, with
// their error); tokens of a request are in the order of the steps; the first one is made by a step
// that reads prompts; and each step makes as many tokens as its annotation says. A token is tied if
// it is on the same step in each assignment of all tokens that meets these rules.
//
// If assignments exist in which no request pauses (it is in each step that generates, from its
// first token to its last), only these count: JoinWhy stays kJoined, and `gapless` says so. A
// request may pause if a step between its tokens has more tokens than requests: a preempted one is
// read again there.
struct RequestJoin {
  JoinWhy why = JoinWhy::kNoRequests;  // kJoined if any engine is; else the least of engine_why
  std::vector<JoinEngine> engines;
  std::vector<JoinWhy> engine_why;  // by engine
  // By engine: the ties hold if no request paused between its first and its last token. That is how
  // continuous batching works, and all steps and records agree with it.
  std::vector<bool> gapless;
  std::vector<JoinedRequest> requests;  // by RequestTable::rows
  // Of all requests. `tokens` counts all but kOutside: a step of the trace made them, or may have.
  // So tied + one_of + unknown = tokens.
  uint64_t tokens = 0, tied = 0, one_of = 0;
  std::optional<DurationNs> clock_error;  // the largest of the joined engines
};

struct JoinOptions {
  // Engines may pause requests without a sign of it in their steps, so RequestJoin::gapless is
  // false.
  bool may_pause = false;
};

// Joins all requests. Cost: O(tokens log steps) if few tokens fit on more than one step; the search
// for an assignment of the others is bounded (kTooMuch). Memory: 28 bytes a token, and what
// SolveSlots takes.
RequestJoin JoinRequests(const RequestTable& requests, std::vector<JoinEngine> engines,
                         const JoinOptions& options = {});

}  // namespace tacho
