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

// How far a lane has come.
struct Pace {
  size_t lane = 0;
  uint64_t places = 0;    // 0: no bound
  uint64_t cursor = 0;    // the plan's next one for it is here or later
  uint64_t occupied = 0;  // places: requests under way, and users who think or rest
  uint64_t resting = 0;   // of them, users whose request is over
  int64_t due_at_ns = 0;  // when it takes its turn again for a request that was not yet due
  bool in_turn = false;
  uint64_t untaken = 0;                    // places that nobody has had
  std::deque<int64_t> free_since_ns = {};  // of the other free ones, the longest first
  FailureStreak failures = {};

  bool HasRoom() const { return places == 0 || untaken > 0 || !free_since_ns.empty(); }
  // Since when the place was free; 0: nobody has had it. Not without room.
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

// The lanes of a load under way: whose turn it is to send, which are through, and whether there is
// any hope. One thread. Keeps references to the plan and its lanes.
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

  // A user who rests has done so, and goes on to the next request.
  void FreePlace(Pace& pace, int64_t at_ns) {
    --pace.occupied;
    --pace.resting;
    if (pace.places > 0) pace.free_since_ns.push_back(at_ns);
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
    return pace.occupied == pace.resting &&
           !requests_.Has(lanes_.FirstTurnFrom(pace.lane, pace.cursor));
  }

  const NumberedPlan& requests_;
  const Lanes& lanes_;
  std::vector<Pace> paces_;   // by lane
  std::deque<size_t> turns_;  // lanes that may have something to send
};

}  // namespace tacho
