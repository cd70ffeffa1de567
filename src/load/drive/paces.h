#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "load/drive/failure_streak.h"
#include "load/drive/lanes.h"

namespace tacho {

// The progress of a lane (load/drive/lanes.h). A place is the right to have one request in flight.
struct Pace {
  size_t lane = 0;
  uint64_t places = 0;    // 0: unlimited
  uint64_t cursor = 0;    // the lane's next request has this index or a later one
  uint64_t occupied = 0;  // places taken by in-flight requests and by users who pause
  uint64_t resting = 0;   // the part of `occupied` taken by users who pause
  int64_t due_at_ns = 0;  // when the lane will look again at a request that was not due yet
  bool in_turn = false;
  uint64_t untaken = 0;  // places never used
  // One entry per place that was used and is free again, the longest free first.
  std::deque<int64_t> free_since_ns = {};
  FailureStreak failures = {};

  bool HasRoom() const { return places == 0 || untaken > 0 || !free_since_ns.empty(); }
  // Occupies a place, and returns the time since which it was free; 0 if it was never used. Call it
  // only if HasRoom().
  int64_t TakePlace() {
    ++occupied;
    if (places == 0) return 0;
    if (untaken > 0) {
      --untaken;
      return 0;
    }
    const int64_t since = free_since_ns.front();
    free_since_ns.pop_front();
    return since;
  }
};

// The lanes of a running load: which lane sends next, which have finished, and whether to give the
// load up. Single thread. Keeps references to the plan and its lanes.
class Paces {
 public:
  Paces(const NumberedPlan& requests, const Lanes& lanes) : requests_(requests), lanes_(lanes) {
    for (size_t lane = 0; lane < lanes.count(); ++lane) {
      Pace& pace = paces_.emplace_back();
      pace.lane = lane;
      pace.places = pace.untaken = lanes.PlacesOf(lane);
      TakesTurn(pace);
    }
  }

  size_t count() const { return paces_.size(); }
  Pace& operator[](size_t lane) { return paces_[lane]; }
  Pace& Of(uint64_t request) { return paces_[lanes_.LaneOf(request)]; }

  // Queues the lane, because it may have something to send.
  void TakesTurn(Pace& pace) {
    if (!std::exchange(pace.in_turn, true)) turns_.push_back(pace.lane);
  }
  bool NobodysTurn() const { return turns_.empty(); }
  // Takes the first lane out of the queue, which must not be empty.
  Pace& NextInTurn() {
    Pace& pace = paces_[turns_.front()];
    turns_.pop_front();
    pace.in_turn = false;
    return pace;
  }

  // Call it when a user's pause is over: the next request may take the place.
  void FreePlace(Pace& pace, int64_t at_ns) {
    --pace.occupied;
    --pace.resting;
    if (pace.places > 0) pace.free_since_ns.push_back(at_ns);
    TakesTurn(pace);
  }

  // The lane's next request, due or not; nullopt if all its requests have begun.
  std::optional<uint64_t> NextOf(Pace& pace) const {
    pace.cursor = lanes_.FirstTurnFrom(pace.lane, pace.cursor);
    if (!requests_.Has(pace.cursor)) return std::nullopt;
    return pace.cursor;
  }
  bool AreThrough() const {
    return std::all_of(paces_.begin(), paces_.end(),
                       [this](const Pace& pace) { return IsThrough(pace); });
  }

  // FailuresInVain must reach this before the load is given up.
  static constexpr uint64_t kHopelessFailures = 20;
  // The failures in a row of all hopeless lanes together (FailureStreak::IsHopeless).
  uint64_t FailuresInVain(int64_t now_ns) const {
    uint64_t failures = 0;
    for (const Pace& pace : paces_)
      if (pace.failures.IsHopeless(now_ns)) failures += pace.failures.in_row();
    return failures;
  }
  // Whether all remaining requests are for hopeless lanes, and these lanes together have at least
  // kHopelessFailures failures in a row.
  bool AreHopeless(int64_t now_ns) const {
    return FailuresInVain(now_ns) >= kHopelessFailures &&
           std::all_of(paces_.begin(), paces_.end(), [&](const Pace& pace) {
             return pace.failures.IsHopeless(now_ns) || IsThrough(pace);
           });
  }

 private:
  bool IsThrough(const Pace& pace) const {
    return pace.occupied == pace.resting &&
           !requests_.Has(lanes_.FirstTurnFrom(pace.lane, pace.cursor));
  }

  const NumberedPlan& requests_;
  const Lanes& lanes_;
  std::vector<Pace> paces_;   // by lane
  std::deque<size_t> turns_;  // queue of the lanes that may have something to send
};

}  // namespace tacho
