#pragma once

#include <cstdint>

#include "base/random.h"
#include "load/plan/plan.h"

namespace tacho {

// The requests of a plan by their number. A plan that repeats (LoadPlan::GoesRound) has no end: its
// requests come again, with other prompts. Keeps a reference to the plan; thread-safe.
class NumberedPlan {
 public:
  explicit NumberedPlan(const LoadPlan& plan) : plan_(plan), goes_round_(plan.GoesRound()) {}

  bool Has(uint64_t index) const { return goes_round_ || index < plan_.requests.size(); }
  const PlannedRequest& operator[](uint64_t index) const {
    return plan_.requests[index % plan_.requests.size()];
  }
  // The earliest time at which the request is due, since the start of the load. A round of an open
  // loop takes the plan's duration; users go from one round to the next without a pause.
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
  // Requests with the same number go to the same server.
  uint64_t AffinityOf(uint64_t index) const {
    // Depends on the round too, so that a plan of one session goes to each server in turn.
    return InSession(index) ? (*this)[index].session + RoundOf(index) : index;
  }
  // The first request from `index` on that need not wait for the end of another.
  uint64_t FirstTurnFrom(uint64_t index) const {
    while (Has(index) && (*this)[index].turn > 0) ++index;
    return index;
  }
  // Whether its session has another turn, which is the next request of the plan.
  bool HasFollower(uint64_t index) const { return Has(index + 1) && (*this)[index + 1].turn > 0; }
  bool InSession(uint64_t index) const { return (*this)[index].turn > 0 || HasFollower(index); }

 private:
  uint64_t RoundOf(uint64_t index) const { return index / plan_.requests.size(); }

  const LoadPlan& plan_;
  const bool goes_round_;
};

}  // namespace tacho
