#pragma once

#include <cstdint>

#include "base/random.h"
#include "load/plan/plan.h"

namespace tacho {

// Gives a plan's requests by index. A plan that repeats (LoadPlan::GoesRound) has no end: its
// requests come again in each round, with other prompts. Keeps a reference to the plan;
// thread-safe.
class NumberedPlan {
 public:
  explicit NumberedPlan(const LoadPlan& plan) : plan_(plan), goes_round_(plan.GoesRound()) {}

  bool Has(uint64_t index) const { return goes_round_ || index < plan_.requests.size(); }
  const PlannedRequest& operator[](uint64_t index) const {
    return plan_.requests[index % plan_.requests.size()];
  }
  // The earliest time at which the request is due, counted from the start of the load. In an open
  // loop each round takes the plan's duration; with a number of users, rounds follow without a
  // pause.
  int64_t AtNsOf(uint64_t index) const {
    const int64_t round_ns = plan_.options.OpenLoop() ? plan_.options.duration_ns.value_or(0) : 0;
    return (*this)[index].at_ns + static_cast<int64_t>(RoundOf(index)) * round_ns;
  }
  uint64_t SaltOf(uint64_t index) const {
    return RoundOf(index) == 0 ? plan_.salt : MixBits(plan_.salt + RoundOf(index));
  }
  uint64_t SessionOf(uint64_t index) const {
    return (*this)[index].session + RoundOf(index) * plan_.requests.size();
  }
  // Requests with the same affinity go to the same server.
  uint64_t AffinityOf(uint64_t index) const {
    // Adds the round, so that a plan with a single session goes to each server in turn.
    return InSession(index) ? (*this)[index].session + RoundOf(index) : index;
  }
  // The first request at or after `index` that need not wait for the end of another request.
  uint64_t FirstTurnFrom(uint64_t index) const {
    while (Has(index) && (*this)[index].turn > 0) ++index;
    return index;
  }
  // Whether the request's session has another turn. If so, it is the next request of the plan.
  bool HasFollower(uint64_t index) const { return Has(index + 1) && (*this)[index + 1].turn > 0; }
  bool InSession(uint64_t index) const { return (*this)[index].turn > 0 || HasFollower(index); }

 private:
  uint64_t RoundOf(uint64_t index) const { return index / plan_.requests.size(); }

  const LoadPlan& plan_;
  const bool goes_round_;
};

}  // namespace tacho
