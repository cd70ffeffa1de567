#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "load/failure_streak.h"
#include "load/lanes.h"

namespace tacho {

// How far a lane has come.
struct Pace {
  size_t lane = 0;
  uint64_t places = 0;        // 0: no bound
  uint64_t cursor = 0;        // the plan's next one for it is here or later
  uint64_t occupied = 0;      // places: requests under way, and users who think or wait
  uint64_t users = 0;         // that have begun, with a fixed concurrency
  int64_t room_since_ns = 0;  // when a place last became free
  int64_t due_at_ns = 0;      // when it takes its turn again for a request that was not yet due
  bool in_turn = false;
  FailureStreak failures = {};

  bool HasRoom() const { return places == 0 || occupied < places; }
};

// The lanes of a load under way: whose turn it is to send, which are through, and whether there is
// any hope. One thread. Keeps references to the plan and its lanes.
class Paces {
 public:
  Paces(const NumberedPlan& requests, const Lanes& lanes) : requests_(requests), lanes_(lanes) {
    for (size_t lane = 0; lane < lanes.count(); ++lane) {
      paces_.push_back({.lane = lane, .places = lanes.PlacesOf(lane)});
      TakesTurn(paces_.back());
    }
  }

  size_t count() const { return paces_.size(); }
  Pace& operator[](size_t lane) { return paces_[lane]; }
  Pace& Of(uint64_t request) { return paces_[lanes_.LaneOf(request)]; }

  // It may have something to send: it comes after those that said so before.
  void TakesTurn(Pace& pace) {
    if (!std::exchange(pace.in_turn, true)) turns_.push_back(pace.lane);
  }
  bool NobodysTurn() const { return turns_.empty(); }
  // Whose turn it is; it has had it. Not when it is nobody's.
  Pace& NextInTurn() {
    Pace& pace = paces_[turns_.front()];
    turns_.pop_front();
    pace.in_turn = false;
    return pace;
  }

  // A request is over, and its user goes on to the next one.
  void FreePlace(Pace& pace, int64_t at_ns) {
    if (!pace.HasRoom()) pace.room_since_ns = at_ns;
    --pace.occupied;
    TakesTurn(pace);
  }

  // The lane's next request, whether it is due or not. None: all were begun.
  std::optional<uint64_t> NextOf(Pace& pace) const {
    pace.cursor = lanes_.FirstTurnFrom(pace.lane, pace.cursor);
    if (!requests_.Has(pace.cursor)) return std::nullopt;
    return pace.cursor;
  }
  bool AreThrough() const {
    return std::all_of(paces_.begin(), paces_.end(),
                       [this](const Pace& pace) { return IsThrough(pace); });
  }

  // A load is given up after this many failures in vain.
  static constexpr uint64_t kHopelessFailures = 20;
  // Those in a row of lanes whose servers answer nothing well (FailureStreak tells for how long).
  uint64_t FailuresInVain(int64_t now_ns) const {
    uint64_t failures = 0;
    for (const Pace& pace : paces_)
      if (pace.failures.IsHopeless(now_ns)) failures += pace.failures.in_row();
    return failures;
  }
  // What is left to do is for such servers.
  bool AreHopeless(int64_t now_ns) const {
    return FailuresInVain(now_ns) >= kHopelessFailures &&
           std::all_of(paces_.begin(), paces_.end(), [&](const Pace& pace) {
             return pace.failures.IsHopeless(now_ns) || IsThrough(pace);
           });
  }

 private:
  bool IsThrough(const Pace& pace) const {
    return pace.occupied == 0 && !requests_.Has(lanes_.FirstTurnFrom(pace.lane, pace.cursor));
  }

  const NumberedPlan& requests_;
  const Lanes& lanes_;
  std::vector<Pace> paces_;   // by lane
  std::deque<size_t> turns_;  // lanes that may have something to send
};

}  // namespace tacho
