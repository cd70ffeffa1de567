#include "analysis/layers/block_runs.h"

#include <vector>

namespace tacho {
namespace {

// Joins the pieces of a step's work to runs and passes these on.
class RunMaker {
 public:
  RunMaker(const OnBlockRun& on_run, const StepRoles& of) : on_run_(on_run) { run_.of = &of; }

  // Adds the next piece of the step.
  void Add(uint32_t layer, LayerBlock block, Interval own, DurationNs gap) {
    if (layer != run_.layer || block != run_.block) PassOn();
    if (times_.empty()) {
      run_.layer = layer;
      run_.block = block;
      run_.when.start = own.start;
    }
    run_.when.end = own.end;
    run_.charged += own.length();
    run_.gap += gap;
    times_.push_back(own);
  }
  // Passes on the run of the pieces since the last one.
  void PassOn() {
    if (times_.empty()) return;
    const bool draft = run_.block == LayerBlock::kDraft;
    size_t& first = draft ? first_draft_ : first_;
    run_.items = std::span(draft ? run_.of->draft : run_.of->items).subspan(first, times_.size());
    run_.times = times_;
    on_run_(run_);
    first += times_.size();
    times_.clear();
    run_.charged = run_.gap = {};
  }

 private:
  const OnBlockRun& on_run_;
  BlockRun run_;
  std::vector<Interval> times_;
  size_t first_ = 0, first_draft_ = 0;  // of the run, in StepRoles::items and ::draft
};

}  // namespace

void EachBlockRun(const LayeredSteps& found, const OnBlockRun& on_run) {
  for (const StepLayers& step : found.steps) {
    if (!step.counts()) continue;
    const std::vector<LayerSpan>& layers = step.structure->layers;
    RunMaker runs(on_run, step.of);
    uint32_t layer = 0;
    EachPiece(step.of, [&](size_t i, Interval own, DurationNs gap) {
      const bool draft = step.of.IsDraft(i);
      while (!draft && layer < layers.size() && i >= layers[layer].end) ++layer;
      const bool inside = !draft && layer < layers.size() && i >= layers[layer].begin;
      runs.Add(inside ? layer : BlockRun::kOutside, step.blocks[i], own, gap);
    });
    runs.PassOn();
  }
}

}  // namespace tacho
