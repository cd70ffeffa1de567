#include "analysis/opportunities/exchange_overlap.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/interval_set.h"

namespace tacho {
namespace {

DurationNs LengthOf(const IntervalSet& set) {
  DurationNs length;
  for (const Interval& when : set.intervals()) length += when.length();
  return length;
}

enum class Part : uint8_t { kExchange, kSharedExpert, kElse };

Part PartOf(LayerBlock block, LayerRole role) {
  if ((block == LayerBlock::kDispatch || block == LayerBlock::kCombine) &&
      role == LayerRole::kExchange)
    return Part::kExchange;
  return block == LayerBlock::kSharedExpert && !SaysNothing(role) ? Part::kSharedExpert
                                                                  : Part::kElse;
}

}  // namespace

ExchangeOverlap ExchangeOverlapOf(const StepLayers& step, size_t layer, const BusyBefore& busy) {
  const auto& [begin, mixer, mixer_end, end] = step.structure->layers[layer];
  const std::vector<LayerRole>& roles = step.of.roles;
  const std::vector<LayerBlock>& blocks = step.blocks;
  bool exchanges = false, activates = false;
  for (size_t i = mixer_end; i < end; ++i) {
    const Part part = PartOf(blocks[i], roles[i]);
    exchanges = exchanges || part == Part::kExchange;
    activates = activates || (part == Part::kSharedExpert &&
                              (roles[i] == LayerRole::kActivation || roles[i] == LayerRole::kSide));
  }
  if (!exchanges || !activates) return {};

  const std::vector<WorkItem>& items = step.of.device->items;
  const size_t first = step.of.items[mixer_end - 1];
  TimeNs until = items[first].when.end;
  for (size_t i = mixer_end; i < end; ++i)
    until = std::max(until, items[step.of.items[i]].when.end);
  std::vector<Interval> exchange, expert, other = {{items[first].when.start, busy.Until(first)}};
  size_t own = mixer_end;  // the next piece of the layer
  for (size_t i = first; i < items.size() && items[i].when.start < until; ++i) {
    const bool is_own = own < end && step.of.items[own] == i;
    const Part part = is_own ? PartOf(blocks[own], roles[own]) : Part::kElse;
    if (is_own) ++own;
    // With the gap before it.
    const Interval when = items[i].when;
    const TimeNs start = i == first ? when.start : std::min(when.start, busy.Until(i));
    (part == Part::kExchange       ? exchange
     : part == Part::kSharedExpert ? expert
                                   : other)
        .push_back({start, when.end});
  }
  const IntervalSet exchanging(std::move(exchange)), computing(std::move(expert)),
      busy_otherwise(std::move(other));
  return {LengthOf(exchanging.Without(computing).Without(busy_otherwise)),
          LengthOf(computing.Without(exchanging).Without(busy_otherwise))};
}

}  // namespace tacho
