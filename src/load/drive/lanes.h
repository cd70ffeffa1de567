#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "load/plan/numbered_plan.h"

namespace tacho {

// Decides which server each request of a plan goes to, and which requests share a limit of
// in-flight requests.
//
// Requests go to the servers in turn; all requests of a session go to the same server. A lane is a
// queue of requests with a number of places; each in-flight request occupies one. If the number of
// users is fixed, and there are at least as many users as servers, each server has a lane of its
// own with its share of the places. So the next request for a server is sent when one for the same
// server ends. (With shared places, a server that is slow for some seconds would occupy all of
// them, and the others would be idle.) Otherwise all servers share one lane.
//
// Keeps a reference to the plan; thread-safe.
class Lanes {
 public:
  Lanes(const NumberedPlan& plan, const PlanOptions& options, size_t targets)
      : plan_(plan),
        targets_(targets),
        places_(options.concurrency),
        count_(options.OpenLoop() || places_ < targets ? 1 : targets) {}

  size_t count() const { return count_; }
  // The limit of in-flight requests of this lane; 0: unlimited.
  uint64_t PlacesOf(size_t lane) const {
    return places_ / count_ + (lane < places_ % count_ ? 1 : 0);
  }
  size_t TargetOf(uint64_t index) const {
    const uint64_t affinity = plan_.AffinityOf(index);
    return (count_ == 1 ? affinity : affinity % places_) % targets_;
  }
  size_t LaneOf(uint64_t index) const { return count_ == 1 ? 0 : TargetOf(index); }
  // The lane's first request at or after `index` that need not wait for the end of another request.
  // If there is none, returns an index outside the plan (NumberedPlan::Has).
  uint64_t FirstTurnFrom(size_t lane, uint64_t index) const {
    for (;; ++index) {
      index = plan_.FirstTurnFrom(index);
      if (!plan_.Has(index) || LaneOf(index) == lane) return index;
    }
  }

 private:
  const NumberedPlan& plan_;
  const size_t targets_;
  const uint64_t places_;
  const size_t count_;
};

// The order in which request bodies are built in advance: the next body is for the lane with the
// fewest bodies ready, so that no lane waits for the bodies of a slower one.
class BodyOrder {
 public:
  BodyOrder(const NumberedPlan& plan, const Lanes& lanes)
      : plan_(plan),
        lanes_(lanes),
        next_(lanes.count()),
        built_(lanes.count()),
        sent_(lanes.count()) {}

  // The next request to build. Call it from one thread only.
  std::optional<uint64_t> Next() {
    std::optional<size_t> best;
    int64_t fewest = 0;
    for (size_t lane = 0; lane < next_.size(); ++lane) {
      const int64_t ahead = built_[lane] - sent_[lane].load(std::memory_order_relaxed);
      if (best && ahead >= fewest) continue;
      next_[lane] = lanes_.FirstTurnFrom(lane, next_[lane]);
      if (!plan_.Has(next_[lane])) continue;
      best = lane;
      fewest = ahead;
    }
    if (!best) return std::nullopt;
    ++built_[*best];
    return next_[*best]++;
  }
  // Call it when a request of `lane` that Next had returned is sent. May be called from any thread.
  void Sent(size_t lane) { sent_[lane].fetch_add(1, std::memory_order_relaxed); }

 private:
  const NumberedPlan& plan_;
  const Lanes& lanes_;
  std::vector<uint64_t> next_;  // by lane, like the two vectors below
  std::vector<int64_t> built_;
  std::vector<std::atomic<int64_t>> sent_;
};

}  // namespace tacho
