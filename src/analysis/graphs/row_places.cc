#include "analysis/graphs/row_places.h"

namespace tacho {

RowPlaces::RowPlaces(const PreparedTrace& prepared, const LayeredSteps& layers) {
  if (layers.state != LayersState::kFound || prepared.work.on_host) return;
  places_.resize(prepared.index.trace().gpu.size());
  for (const StepLayers& step : layers.steps) {
    if (!step.counts()) continue;
    const std::vector<LayerSpan>& spans = step.structure->layers;
    size_t layer = 0;
    for (size_t i = 0; i < step.of.pieces(); ++i) {
      const bool draft = step.of.IsDraft(i);
      while (!draft && layer < spans.size() && i >= spans[layer].end) ++layer;
      const bool inside = !draft && layer < spans.size() && i >= spans[layer].begin;
      Place& place = places_[step.of.Work(i).row];
      place.layer = inside ? static_cast<uint32_t>(layer) & kOutside : kOutside;
      place.block = step.blocks[i];
    }
  }
}

}  // namespace tacho
