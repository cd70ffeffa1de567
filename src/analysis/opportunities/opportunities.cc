#include "analysis/opportunities/opportunities.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/opportunities/exchange_overlap.h"
#include "analysis/opportunities/fusible_runs.h"
#include "base/share.h"

namespace tacho {
namespace {

// Sums over the steps of a phase.
struct Sums {
  uint64_t count = 0;
  DurationNs most, gaps, exposed, movable;
  std::vector<bool> in_layers;  // by layer

  void In(size_t layer, size_t layers) {
    in_layers.resize(layers);
    in_layers[layer] = true;
    ++count;
  }
};

// Whether a run repeats: it is in all layers of one kind, except for the first and the last layer
// of the model, and in two layers or more.
bool Repeats(const std::vector<bool>& in_layers, const std::vector<LayerRow>& layers) {
  if (std::ranges::count(in_layers, true) < 2) return false;
  std::map<std::string_view, std::pair<size_t, size_t>> kinds;  // layers with the run, without it
  for (size_t i = 0; i < layers.size(); ++i) {
    auto& [with, without] = kinds[layers[i].kind];
    if (in_layers[i]) {
      ++with;
    } else if (i > 0 && i + 1 < layers.size()) {
      ++without;
    }
  }
  return std::ranges::any_of(
      kinds, [](const auto& kind) { return kind.second.first > 0 && kind.second.second == 0; });
}

class Opportunities {
 public:
  Opportunities(const PreparedTrace& prepared, const LayerTable& table)
      : prepared_(prepared), table_(table) {
    for (const std::string& category : prepared.work.categories)
      may_be_fused_.push_back(MayBeFused(category));
  }

  void Add(const StepLayers& step) {
    if (!step.counts()) return;
    if (device_ != step.of.device) {
      device_ = step.of.device;
      busy_.emplace(*device_);
    }
    const Phase phase = prepared_.steps.steps[step.of.step].label.phase;
    ForEachFusibleRun(step, *busy_, may_be_fused_, [&](const FusibleRun& run) {
      names_.clear();
      for (const uint32_t item : run.items) names_.push_back(device_->items[item].name);
      Sums& sums = runs_[{phase, names_}];
      sums.In(run.layer, table_.count);
      sums.most += run.most;
      sums.gaps += run.gaps;
    });
    for (size_t layer = 0; layer < table_.count; ++layer) {
      const ExchangeOverlap overlap = ExchangeOverlapOf(step, layer, *busy_);
      if (overlap.most() <= DurationNs{}) continue;
      Sums& sums = overlaps_[phase];
      sums.In(layer, table_.count);
      sums.most += overlap.most();
      sums.exposed += overlap.exposed;
      sums.movable += overlap.movable;
    }
  }

  std::vector<Opportunity> Finish() && {
    for (const auto& [key, sums] : runs_) {
      const PhaseLayers& phase = PhaseOf(key.first);
      if (!Repeats(sums.in_layers, phase.layers)) continue;
      Opportunity& of = Found(OpportunityKind::kFuse, phase, sums);
      for (const StringId name : key.second)
        of.kernels.emplace_back(prepared_.index.trace().Text(name));
    }
    for (const auto& [phase, sums] : overlaps_)
      Found(OpportunityKind::kOverlap, PhaseOf(phase), sums);
    std::ranges::sort(found_, [](const Opportunity& a, const Opportunity& b) {
      const double of_a = MeanOf(a), of_b = MeanOf(b);
      return of_a != of_b
                 ? of_a > of_b
                 : std::tie(a.phase, a.kind, a.kernels) < std::tie(b.phase, b.kind, b.kernels);
    });
    return std::move(found_);
  }

 private:
  static double MeanOf(const Opportunity& of) {
    return static_cast<double>(of.most.ns) / static_cast<double>(of.steps);
  }

  [[nodiscard]] const PhaseLayers& PhaseOf(Phase phase) const {
    return *std::ranges::find(table_.phases, phase, &PhaseLayers::phase);
  }

  Opportunity& Found(OpportunityKind kind, const PhaseLayers& phase, const Sums& sums) {
    Opportunity& of = found_.emplace_back();
    of.kind = kind;
    of.phase = phase.phase;
    of.layers = static_cast<uint32_t>(std::ranges::count(sums.in_layers, true));
    of.steps = phase.steps;
    of.count = sums.count;
    of.most = sums.most;
    of.gaps = sums.gaps;
    of.exposed = sums.exposed;
    of.movable = sums.movable;
    of.share = ShareOf(sums.most, TimeOf(phase));
    return of;
  }

  // Of the layers, with the gaps inside of them: before the first layer a step may wait for long.
  static DurationNs TimeOf(const PhaseLayers& phase) {
    DurationNs sum;
    for (const LayerRow& layer : phase.layers) sum += layer.device + layer.gap;
    return sum;
  }

  const PreparedTrace& prepared_;
  const LayerTable& table_;
  std::vector<bool> may_be_fused_;  // by WorkCategory
  const DeviceItems* device_ = nullptr;
  std::optional<BusyBefore> busy_;  // of `device_`
  std::vector<StringId> names_;
  std::map<std::pair<Phase, std::vector<StringId>>, Sums> runs_;  // by the names of the kernels
  std::map<Phase, Sums> overlaps_;
  std::vector<Opportunity> found_;
};

}  // namespace

std::string_view OpportunityKindId(OpportunityKind kind) {
  return kind == OpportunityKind::kFuse ? "fuse" : "overlap";
}

std::vector<Opportunity> FindOpportunities(const PreparedTrace& prepared, const LayeredSteps& steps,
                                           const LayerTable& table) {
  if (table.state != LayersState::kFound || prepared.work.on_host) return {};
  Opportunities found(prepared, table);
  for (const StepLayers& step : steps.steps) found.Add(step);
  return std::move(found).Finish();
}

}  // namespace tacho
