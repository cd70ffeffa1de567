#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/slot_flow.h"

namespace tacho {

// A flow that solves a SlotProblem, and its residual graph. The nodes are the slots, then the
// places (one for each slot of each run), then one hub, from which all flow comes and to which it
// returns.
class SlotGraph {
 public:
  // An arc of the flow, seen from one of its nodes: its other node (`to`), whether it leaves the
  // node from which it is seen, and whether its flow may still grow or shrink.
  struct Arc {
    uint32_t to = 0;
    uint32_t id = 0;
    bool leaves = false, grows = false, shrinks = false;

    [[nodiscard]] bool Forward() const { return leaves ? grows : shrinks; }
    [[nodiscard]] bool Backward() const { return leaves ? shrinks : grows; }
  };

  // `problem` must outlive it.
  explicit SlotGraph(const SlotProblem& problem);

  [[nodiscard]] uint32_t slots() const { return slots_; }
  [[nodiscard]] uint32_t places() const { return places_; }
  [[nodiscard]] uint32_t hub() const { return slots_ + places_; }
  [[nodiscard]] uint32_t nodes() const { return hub() + 1; }
  [[nodiscard]] uint32_t arcs() const;
  [[nodiscard]] uint32_t PlaceOf(uint32_t run, uint32_t slot_of_run) const {
    return first_place_[run] + slot_of_run;
  }

  // The flow, as numbers of tokens. `left`, by place: tokens of its run in its slot. `before`, by
  // run: tokens before its first place. `in_slot`, by slot: tokens of all runs.
  std::vector<int32_t> left, before, in_slot;
  // By place: tokens of its run up to and including this place.
  std::vector<int32_t> placed;

  // Calls `see(arc)` for each arc of a node, until `see` returns true. Returns whether it did.
  // Cost: O(arcs of the node).
  template <typename See>
  bool EachArc(uint32_t node, See&& see) const {
    for (uint32_t i = 0;; ++i) {
      Arc arc;
      if (!ArcAt(node, i, arc)) return false;
      if (see(arc)) return true;
    }
  }
  // Sets `arc` to arc number `number` of a node; returns false if the node has fewer arcs.
  bool ArcAt(uint32_t node, uint32_t number, Arc& arc) const;
  // Changes the flow of an arc by `by`, which is 1 or -1.
  void Push(uint32_t arc, int32_t by);

  // Arc numbers. LeftArc: from a place's slot to the place. PlacedArc: from a place to the next one
  // of its run, or to the hub. BeforeArc: from the hub to a run's first place. SlotArc: from the
  // hub to a slot.
  [[nodiscard]] uint32_t LeftArc(uint32_t place) const { return place; }
  [[nodiscard]] uint32_t PlacedArc(uint32_t place) const { return places_ + place; }
  [[nodiscard]] uint32_t BeforeArc(uint32_t run) const { return 2 * places_ + run; }
  [[nodiscard]] uint32_t SlotArc(uint32_t slot) const { return 2 * places_ + runs() + slot; }

 private:
  [[nodiscard]] uint32_t runs() const { return static_cast<uint32_t>(problem_.runs.size()); }
  [[nodiscard]] Arc ArcOf(uint32_t to, uint32_t id, bool leaves, int32_t flow,
                          const CountBounds& bounds) const {
    return {to, id, leaves, flow<bounds.most, flow> bounds.least};
  }
  bool ArcOfPlace(uint32_t place, uint32_t number, Arc& arc) const;
  bool ArcOfHub(uint32_t number, Arc& arc) const;
  [[nodiscard]] Arc LeftFrom(uint32_t place, bool from_slot) const;
  [[nodiscard]] Arc BeforeFrom(uint32_t run, bool from_hub) const;
  [[nodiscard]] Arc PlacedFrom(uint32_t place, bool from_place) const;
  [[nodiscard]] Arc SlotFrom(uint32_t slot, bool from_hub) const;

  const SlotProblem& problem_;
  uint32_t slots_, places_;
  std::vector<uint32_t> first_place_;  // by run
  std::vector<uint32_t> run_of_;       // by place
  // The places of a slot are of_slot_[first_of_slot_[slot], first_of_slot_[slot + 1]).
  std::vector<uint32_t> of_slot_, first_of_slot_;
};

// By arc: whether its flow is the same in all flows that meet the bounds. The flow of `graph` must
// meet them. Cost: O(nodes).
std::vector<bool> FixedArcs(const SlotGraph& graph);

}  // namespace tacho
