#include "analysis/requests/slot_graph.h"

#include <algorithm>

namespace tacho {
namespace {

constexpr uint32_t kUnseen = 0xffffffff;

// Strongly connected components of the residual graph, by Tarjan's algorithm without recursion.
class Components {
 public:
  explicit Components(const SlotGraph& graph)
      : graph_(graph),
        order_(graph.nodes(), kUnseen),
        low_(graph.nodes()),
        of(graph.nodes(), kUnseen) {
    for (uint32_t node = 0; node < graph.nodes(); ++node) {
      if (order_[node] == kUnseen) Visit(node);
    }
  }

 private:
  struct Frame {
    uint32_t node, next;
  };
  void Enter(uint32_t node) {
    order_[node] = low_[node] = count_++;
    open_.push_back(node);
    frames_.push_back({node, 0});
  }
  void Visit(uint32_t root) {
    Enter(root);
    while (!frames_.empty()) {
      const uint32_t node = frames_.back().node;
      SlotGraph::Arc arc;
      if (graph_.ArcAt(node, frames_.back().next, arc)) {
        ++frames_.back().next;
        if (!arc.Forward()) continue;
        if (order_[arc.to] == kUnseen) {
          Enter(arc.to);
        } else if (of[arc.to] == kUnseen) {
          low_[node] = std::min(low_[node], order_[arc.to]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty())
        low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
      if (low_[node] == order_[node]) Close(node);
    }
  }
  void Close(uint32_t root) {
    for (uint32_t node = kUnseen; node != root;) {
      node = open_.back();
      open_.pop_back();
      of[node] = components_;
    }
    ++components_;
  }

  const SlotGraph& graph_;
  std::vector<uint32_t> order_, low_, open_;
  std::vector<Frame> frames_;
  uint32_t count_ = 0, components_ = 0;

 public:
  std::vector<uint32_t> of;  // by node
};

// Marks the bridges: arcs that alone join two parts of a component if directions are ignored.
class Bridges {
 public:
  Bridges(const SlotGraph& graph, const std::vector<uint32_t>& component, std::vector<bool>& fixed)
      : graph_(graph),
        component_(component),
        fixed_(fixed),
        order_(graph.nodes(), kUnseen),
        low_(graph.nodes()) {
    for (uint32_t node = 0; node < graph.nodes(); ++node) {
      if (order_[node] == kUnseen) Visit(node);
    }
  }

 private:
  struct Frame {
    uint32_t node, next, by;
  };
  void Enter(uint32_t node, uint32_t by) {
    order_[node] = low_[node] = count_++;
    frames_.push_back({node, 0, by});
  }
  void Visit(uint32_t root) {
    Enter(root, kUnseen);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const uint32_t node = frame.node;
      SlotGraph::Arc arc;
      if (graph_.ArcAt(node, frame.next, arc)) {
        ++frame.next;
        if (arc.id == frame.by || component_[arc.to] != component_[node]) continue;
        if (!arc.grows && !arc.shrinks) continue;
        if (order_[arc.to] == kUnseen) {
          Enter(arc.to, arc.id);
        } else {
          low_[node] = std::min(low_[node], order_[arc.to]);
        }
        continue;
      }
      const uint32_t by = frame.by;
      frames_.pop_back();
      if (frames_.empty()) return;
      const uint32_t parent = frames_.back().node;
      low_[parent] = std::min(low_[parent], low_[node]);
      if (low_[node] > order_[parent]) fixed_[by] = true;
    }
  }

  const SlotGraph& graph_;
  const std::vector<uint32_t>& component_;
  std::vector<bool>& fixed_;
  std::vector<uint32_t> order_, low_;
  std::vector<Frame> frames_;
  uint32_t count_ = 0;
};

}  // namespace

SlotGraph::SlotGraph(const SlotProblem& problem)
    : problem_(problem), slots_(static_cast<uint32_t>(problem.slots.size())), places_(0) {
  first_of_slot_.assign(slots_ + 1, 0);
  for (const SlotProblem::Run& run : problem.runs) {
    first_place_.push_back(places_);
    places_ += run.slots;
    for (uint32_t i = 0; i < run.slots; ++i) ++first_of_slot_[run.first_slot + i + 1];
  }
  for (uint32_t slot = 0; slot < slots_; ++slot) first_of_slot_[slot + 1] += first_of_slot_[slot];
  std::vector<uint32_t> next(first_of_slot_.begin(), first_of_slot_.end() - 1);
  of_slot_.resize(places_);
  run_of_.resize(places_);
  for (uint32_t run = 0; run < runs(); ++run) {
    for (uint32_t i = 0; i < problem.runs[run].slots; ++i) {
      const uint32_t place = first_place_[run] + i;
      of_slot_[next[problem.runs[run].first_slot + i]++] = place;
      run_of_[place] = run;
    }
  }
  left.assign(places_, 0);
  placed.assign(places_, 0);
  before.assign(runs(), 0);
  in_slot.assign(slots_, 0);
}

uint32_t SlotGraph::arcs() const { return 2 * places_ + runs() + slots_; }

SlotGraph::Arc SlotGraph::LeftFrom(uint32_t place, bool from_slot) const {
  const SlotProblem::Run& run = problem_.runs[run_of_[place]];
  const uint32_t slot = run.first_slot + (place - first_place_[run_of_[place]]);
  return ArcOf(from_slot ? slots_ + place : slot, LeftArc(place), from_slot, left[place],
               {0, problem_.slots[slot].most_of_one});
}

SlotGraph::Arc SlotGraph::BeforeFrom(uint32_t run, bool from_hub) const {
  return ArcOf(from_hub ? slots_ + first_place_[run] : hub(), BeforeArc(run), from_hub, before[run],
               problem_.placed[problem_.runs[run].placed]);
}

SlotGraph::Arc SlotGraph::PlacedFrom(uint32_t place, bool from_place) const {
  const SlotProblem::Run& run = problem_.runs[run_of_[place]];
  const uint32_t at = place - first_place_[run_of_[place]];
  const uint32_t next = at + 1 == run.slots ? hub() : slots_ + place + 1;
  return ArcOf(from_place ? next : slots_ + place, PlacedArc(place), from_place, placed[place],
               problem_.placed[run.placed + at + 1]);
}

SlotGraph::Arc SlotGraph::SlotFrom(uint32_t slot, bool from_hub) const {
  return ArcOf(from_hub ? slot : hub(), SlotArc(slot), from_hub, in_slot[slot],
               problem_.slots[slot].tokens);
}

bool SlotGraph::ArcOfPlace(uint32_t place, uint32_t number, Arc& arc) const {
  const uint32_t run = run_of_[place];
  if (number == 0) {
    arc = LeftFrom(place, false);
  } else if (number == 1) {
    arc = PlacedFrom(place, true);
  } else if (number == 2) {
    arc = place == first_place_[run] ? BeforeFrom(run, false) : PlacedFrom(place - 1, false);
  }
  return number < 3;
}

bool SlotGraph::ArcOfHub(uint32_t number, Arc& arc) const {
  if (number < slots_) {
    arc = SlotFrom(number, true);
    return true;
  }
  const uint32_t run = (number - slots_) / 2;
  if (run >= runs()) return false;
  arc = (number - slots_) % 2 == 0
            ? BeforeFrom(run, true)
            : PlacedFrom(first_place_[run] + problem_.runs[run].slots - 1, false);
  return true;
}

bool SlotGraph::ArcAt(uint32_t node, uint32_t number, Arc& arc) const {
  if (node == hub()) return ArcOfHub(number, arc);
  if (node >= slots_) return ArcOfPlace(node - slots_, number, arc);
  if (number == 0) {
    arc = SlotFrom(node, false);
    return true;
  }
  const uint32_t at = first_of_slot_[node] + number - 1;
  if (at >= first_of_slot_[node + 1]) return false;
  arc = LeftFrom(of_slot_[at], true);
  return true;
}

void SlotGraph::Push(uint32_t arc, int32_t by) {
  if (arc < places_) {
    left[arc] += by;
  } else if (arc < 2 * places_) {
    placed[arc - places_] += by;
  } else if (arc < 2 * places_ + runs()) {
    before[arc - 2 * places_] += by;
  } else {
    in_slot[arc - 2 * places_ - runs()] += by;
  }
}

std::vector<bool> FixedArcs(const SlotGraph& graph) {
  const Components components(graph);
  std::vector<bool> fixed(graph.arcs(), false);
  for (uint32_t node = 0; node < graph.nodes(); ++node) {
    graph.EachArc(node, [&](const SlotGraph::Arc& arc) {
      if (components.of[arc.to] != components.of[node] || (!arc.grows && !arc.shrinks))
        fixed[arc.id] = true;
      return false;
    });
  }
  const Bridges bridges(graph, components.of, fixed);
  return fixed;
}

}  // namespace tacho
