#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/slot_flow.h"

namespace tacho {

// The flow of a SlotProblem and its residual graph. Nodes: slots, then one for each slot of each
// run ("places"), then one hub, which all flow comes from and goes to.
class SlotGraph {
 public:
  // An arc of the flow, seen from a node: to which node, whether it leaves the node, and whether
  // the flow on it may still grow or shrink.
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

  // Tokens that a place leaves in its slot; tokens placed before a run's first place; tokens in a
  // slot.
  std::vector<int32_t> left, before, in_slot;
  // How many tokens of its run are placed after a place.
  std::vector<int32_t> placed;

  // Calls `see(arc)` for each arc of a node, until that returns true. Cost: O(arcs of the node).
  template <typename See>
  bool EachArc(uint32_t node, See&& see) const {
    for (uint32_t i = 0;; ++i) {
      Arc arc;
      if (!ArcAt(node, i, arc)) return false;
      if (see(arc)) return true;
    }
  }
  // The arc of a node with this number; false if it has fewer.
  bool ArcAt(uint32_t node, uint32_t number, Arc& arc) const;
  // Adds 1 to the flow of an arc, or takes 1 away.
  void Push(uint32_t arc, int32_t by);

  // Arc numbers: from a slot to a place (by place), from a place to the next one of its run or to
  // the hub (by place), from the hub to the first place of a run (by run), to a slot (by slot).
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
  std::vector<uint32_t> first_place_;              // by run
  std::vector<uint32_t> run_of_;                   // by place
  std::vector<uint32_t> of_slot_, first_of_slot_;  // places by slot
};

// By arc: whether its flow is the same in all flows that meet the bounds. That of `graph` must meet
// them. Cost: O(nodes).
std::vector<bool> FixedArcs(const SlotGraph& graph);

}  // namespace tacho
