#include "analysis/requests/slot_flow.h"

#include <algorithm>
#include <numeric>

#include "analysis/requests/slot_graph.h"

namespace tacho {
namespace {

// Makes a first assignment, slot by slot. A slot gets the tokens that must be in it, then those
// with the earliest deadlines until it has its least number. The bounds of runs hold, but a slot
// may get too few tokens or too many.
class Sweep {
 public:
  Sweep(const SlotProblem& problem, SlotGraph& graph) : problem_(problem), graph_(graph) {
    runs_.resize(problem.runs.size());
    for (uint32_t run = 0; run < runs_.size(); ++run)
      runs_[run].placed = graph.before[run] = Bounds(run, 0).least;
  }

  void Place() {
    std::vector<uint32_t> order(runs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return problem_.runs[i].first_slot; });
    size_t next = 0;
    std::vector<uint32_t> active;
    for (uint32_t slot = 0; slot < graph_.slots(); ++slot) {
      for (; next < order.size() && problem_.runs[order[next]].first_slot == slot; ++next) {
        if (problem_.runs[order[next]].slots > 0) active.push_back(order[next]);
      }
      FillSlot(slot, active);
      std::erase_if(active, [&](uint32_t run) { return Last(run) == slot; });
    }
  }

 private:
  struct State {
    int32_t placed = 0;
    uint32_t due = 0;  // which of the run's slots must have its next token at the latest
  };
  [[nodiscard]] const CountBounds& Bounds(uint32_t run, uint32_t entry) const {
    return problem_.placed[problem_.runs[run].placed + entry];
  }
  [[nodiscard]] uint32_t Last(uint32_t run) const {
    return problem_.runs[run].first_slot + problem_.runs[run].slots - 1;
  }
  // The latest slot in which the run's next token may be placed; the slot after the run's last one
  // if the token may stay without a slot.
  uint32_t Due(uint32_t run) {
    State& state = runs_[run];
    const uint32_t slots = problem_.runs[run].slots;
    while (state.due < slots && Bounds(run, state.due + 1).least <= state.placed) ++state.due;
    return problem_.runs[run].first_slot + state.due;
  }
  void Leave(uint32_t run, uint32_t slot, int32_t tokens) {
    graph_.left[graph_.PlaceOf(run, slot - problem_.runs[run].first_slot)] += tokens;
    graph_.in_slot[slot] += tokens;
    runs_[run].placed += tokens;
  }

  void FillSlot(uint32_t slot, const std::vector<uint32_t>& active) {
    willing_.clear();
    for (const uint32_t run : active) {
      const uint32_t entry = slot - problem_.runs[run].first_slot + 1;
      const int32_t must = std::max(0, Bounds(run, entry).least - runs_[run].placed);
      Leave(run, slot, must);
      if (must < problem_.slots[slot].most_of_one && runs_[run].placed < Bounds(run, entry).most)
        willing_.push_back({Due(run), run});
    }
    const int32_t least = problem_.slots[slot].tokens.least;
    if (graph_.in_slot[slot] < least) {
      std::ranges::sort(willing_);
      for (const auto& [due, run] : willing_) {
        if (graph_.in_slot[slot] >= least) break;
        const uint32_t at = slot - problem_.runs[run].first_slot;
        const int32_t room =
            std::min(problem_.slots[slot].most_of_one - graph_.left[graph_.PlaceOf(run, at)],
                     Bounds(run, at + 1).most - runs_[run].placed);
        Leave(run, slot, std::min(room, least - graph_.in_slot[slot]));
      }
    }
    for (const uint32_t run : active)
      graph_.placed[graph_.PlaceOf(run, slot - problem_.runs[run].first_slot)] = runs_[run].placed;
  }

  const SlotProblem& problem_;
  SlotGraph& graph_;
  std::vector<State> runs_;
  std::vector<std::pair<uint32_t, uint32_t>> willing_;  // deadline and index of a run
};

// Repairs slots that have too few or too many tokens, one token at a time, along a shortest path in
// the residual graph between the slot and the hub.
class Repair {
 public:
  Repair(const SlotProblem& problem, SlotGraph& graph, uint64_t work)
      : problem_(problem),
        graph_(graph),
        work_(work),
        seen_(graph.nodes(), 0),
        by_(graph.nodes()) {}

  SlotFit Run() {
    for (uint32_t slot = 0; slot < graph_.slots(); ++slot) {
      const CountBounds& bounds = problem_.slots[slot].tokens;
      if (bounds.least > bounds.most) return SlotFit::kFitsNot;
      while (graph_.in_slot[slot] < bounds.least || graph_.in_slot[slot] > bounds.most) {
        const bool more = graph_.in_slot[slot] < bounds.least;
        if (!Augment(slot, more)) return work_ == 0 ? SlotFit::kTooMuch : SlotFit::kFitsNot;
        graph_.Push(graph_.SlotArc(slot), more ? 1 : -1);
      }
    }
    return SlotFit::kFits;
  }

 private:
  struct Step {
    uint32_t from = 0;
    SlotGraph::Arc arc;
  };
  // Pushes one token along a path from the slot to the hub if `more`, else along one from the hub
  // to the slot, which is searched backwards. Returns whether there is such a path.
  bool Augment(uint32_t slot, bool more) {
    ++stamp_;
    queue_.assign(1, slot);
    seen_[slot] = stamp_;
    for (size_t at = 0; at < queue_.size(); ++at) {
      const uint32_t node = queue_[at];
      const bool found = graph_.EachArc(node, [&](const SlotGraph::Arc& arc) {
        if (work_ == 0) return true;
        --work_;
        if (seen_[arc.to] == stamp_ || arc.id == graph_.SlotArc(slot)) return false;
        if (more ? !arc.Forward() : !arc.Backward()) return false;
        seen_[arc.to] = stamp_;
        by_[arc.to] = {node, arc};
        queue_.push_back(arc.to);
        return arc.to == graph_.hub();
      });
      if (!found) continue;
      if (seen_[graph_.hub()] != stamp_) return false;
      for (uint32_t back = graph_.hub(); back != slot; back = by_[back].from)
        graph_.Push(by_[back].arc.id, by_[back].arc.leaves == more ? 1 : -1);
      return true;
    }
    return false;
  }

  const SlotProblem& problem_;
  SlotGraph& graph_;
  uint64_t work_;
  uint32_t stamp_ = 0;
  std::vector<uint32_t> seen_;
  std::vector<Step> by_;
  std::vector<uint32_t> queue_;
};

// Narrows the bounds of a run to the flow of `graph`, wherever that flow is fixed.
void Narrow(SlotProblem& problem, uint32_t run_index, const SlotGraph& graph,
            const std::vector<bool>& fixed) {
  SlotProblem::Run& run = problem.runs[run_index];
  if (run.slots == 0) return;
  CountBounds* placed = problem.placed.data() + run.placed;
  const auto left = [&](uint32_t at) {
    const uint32_t place = graph.PlaceOf(run_index, at);
    return fixed[graph.LeftArc(place)]
               ? CountBounds{graph.left[place], graph.left[place]}
               : CountBounds{0, problem.slots[run.first_slot + at].most_of_one};
  };
  if (fixed[graph.BeforeArc(run_index)])
    placed[0] = {graph.before[run_index], graph.before[run_index]};
  for (uint32_t at = 0; at < run.slots; ++at) {
    const uint32_t place = graph.PlaceOf(run_index, at);
    CountBounds& after = placed[at + 1];
    if (fixed[graph.PlacedArc(place)]) after = {graph.placed[place], graph.placed[place]};
    after.least = std::max(after.least, placed[at].least + left(at).least);
    after.most = std::min(after.most, placed[at].most + left(at).most);
    run.needed |= left(at).least > 0;
  }
  for (uint32_t at = run.slots; at-- > 0;) {
    placed[at].least = std::max(placed[at].least, placed[at + 1].least - left(at).most);
    placed[at].most = std::min(placed[at].most, placed[at + 1].most - left(at).least);
  }
}

}  // namespace

SlotFit SolveSlots(SlotProblem& problem, uint64_t work) {
  SlotGraph graph(problem);
  Sweep(problem, graph).Place();
  const SlotFit fit = Repair(problem, graph, work).Run();
  if (fit != SlotFit::kFits) return fit;
  const std::vector<bool> fixed = FixedArcs(graph);
  for (uint32_t run = 0; run < problem.runs.size(); ++run) Narrow(problem, run, graph, fixed);
  return SlotFit::kFits;
}

}  // namespace tacho
