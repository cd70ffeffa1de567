#include "analysis/layers/layer_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(LayersState::kCount)> kStateIds = {
    "found", "no-steps", "no-work", "no-mixer", "no-repetition", "times-refused"};

struct BlockSums {
  DurationNs device, gap;
  uint64_t count = 0;
};
using SumsByBlock = std::array<BlockSums, kLayerBlocks>;

std::vector<BlockTime> TimesOf(const SumsByBlock& sums) {
  std::vector<BlockTime> times;
  for (size_t i = 0; i < kLayerBlocks; ++i) {
    if (sums[i].count > 0)
      times.push_back({static_cast<LayerBlock>(i), sums[i].device, sums[i].gap, sums[i].count});
  }
  return times;
}

// The work of one step on one device, by start.
struct StepItems {
  uint32_t step = 0;
  std::vector<uint32_t> items;
};

// The sum over the steps of one phase.
struct PhaseSums {
  uint64_t steps = 0;
  std::vector<SumsByBlock> layers;
  std::vector<std::string> kinds;
  SumsByBlock outside{};
};

class LayerFinding {
 public:
  explicit LayerFinding(const PreparedTrace& prepared)
      : prepared_(prepared), roles_(RolesOf(prepared.work.categories)) {}

  LayerTable Find() {
    if (!prepared_.integrity.device_times()) return Without(LayersState::kTimes);
    if (prepared_.steps.steps.empty()) return Without(LayersState::kNoSteps);
    for (const DeviceItems& device : prepared_.work.devices) AddDevice(device);
    return std::move(*this).Finish();
  }

 private:
  struct Found {
    const DeviceItems* device = nullptr;
    StepItems of;
    std::vector<LayerSpan> spans;
  };

  static LayerTable Without(LayersState state) {
    LayerTable table;
    table.state = state;
    return table;
  }

  void AddDevice(const DeviceItems& device) {
    for (StepItems& of : ItemsOfSteps(device)) {
      const std::vector<LayerRole> roles = RolesOfItems(device, of);
      any_work_ |= !of.items.empty();
      any_mixer_ |= std::ranges::any_of(roles, IsMixer);
      std::vector<LayerSpan> spans = FindLayerSpans(roles);
      ++steps_with_[spans.size()];
      found_.push_back({&device, std::move(of), std::move(spans)});
    }
  }

  // Of steps whose work is all known.
  [[nodiscard]] std::vector<StepItems> ItemsOfSteps(const DeviceItems& device) {
    const std::vector<Step>& steps = prepared_.steps.steps;
    std::map<uint32_t, StepItems> by_step;
    if (calls_.empty() && !prepared_.work.on_host) calls_ = StepsOfCalls(prepared_.index, steps);
    const StepFinder finder(steps);
    for (uint32_t i = 0; i < device.items.size(); ++i) {
      const WorkItem& item = device.items[i];
      uint32_t step = kNoStep;
      if (prepared_.work.on_host) {
        step = finder.At(item.when.start).value_or(kNoStep);
      } else if (const uint32_t call = prepared_.links.call_of_gpu[item.row];
                 call != LaunchLinks::kNone) {
        step = calls_[call];
      }
      if (step == kNoStep || steps[step].lost_work || steps[step].cut) continue;
      StepItems& of = by_step[step];
      of.step = step;
      of.items.push_back(i);
    }
    std::vector<StepItems> result;
    for (auto& [step, of] : by_step) result.push_back(std::move(of));
    return result;
  }

  [[nodiscard]] std::vector<LayerRole> RolesOfItems(const DeviceItems& device,
                                                    const StepItems& of) const {
    std::vector<LayerRole> roles;
    roles.reserve(of.items.size());
    for (const uint32_t item : of.items) {
      const WorkItem& work = device.items[item];
      roles.push_back(work.continued                 ? LayerRole::kOther
                      : work.kind == WorkKind::kCopy ? LayerRole::kCopy
                                                     : roles_[work.category]);
    }
    // A norm may come as its parts.
    if (std::ranges::none_of(roles, IsNorm))
      std::ranges::replace(roles, LayerRole::kReduction, LayerRole::kNorm);
    return roles;
  }

  // The number of layers that most steps have.
  [[nodiscard]] size_t UsualCount() const {
    size_t usual = 0;
    uint64_t most = 0;
    for (const auto& [count, steps] : steps_with_) {
      if (count > 0 && steps >= most) {
        most = steps;
        usual = count;
      }
    }
    return usual;
  }

  LayerTable Finish() && {
    const size_t count = UsualCount();
    if (count == 0) {
      return Without(!any_work_   ? LayersState::kNoWork
                     : any_mixer_ ? LayersState::kNoRepetition
                                  : LayersState::kNoMixer);
    }
    LayerTable table;
    table.state = LayersState::kFound;
    table.count = static_cast<uint32_t>(count);
    std::map<Phase, PhaseSums> phases;
    for (const Found& found : found_) {
      const bool counts = found.spans.size() == count;
      const Phase phase = prepared_.steps.steps[found.of.step].label.phase;
      const DurationNs device =
          counts ? AddStep(found, phases[phase]) : TimeOf(*found.device, found.of);
      table.device += device;
      if (counts) table.in_steps += device;
      counts ? ++table.steps : ++table.left_out;
    }
    for (const auto& [phase, sums] : phases) {
      PhaseLayers& of = table.phases.emplace_back();
      of.phase = phase;
      of.steps = sums.steps;
      of.outside = TimesOf(sums.outside);
      for (uint32_t i = 0; i < count; ++i) {
        LayerRow& row = of.layers.emplace_back();
        row.index = i;
        row.kind = sums.kinds[i];
        row.blocks = TimesOf(sums.layers[i]);
        for (const BlockTime& block : row.blocks) {
          row.device += block.device;
          row.gap += block.gap;
        }
      }
    }
    return table;
  }

  // Passes each piece with the time that is its own and the gap before it.
  static void EachPiece(const DeviceItems& device, const StepItems& of, auto visit) {
    TimeNs until = device.items[of.items.front()].when.start;
    for (size_t i = 0; i < of.items.size(); ++i) {
      const Interval when = device.items[of.items[i]].when;
      const DurationNs gap = std::max(DurationNs{}, when.start - until);
      const DurationNs own = std::max(DurationNs{}, when.end - std::max(until, when.start));
      until = std::max(until, when.end);
      visit(i, own, gap);
    }
  }
  static DurationNs TimeOf(const DeviceItems& device, const StepItems& of) {
    DurationNs sum;
    EachPiece(device, of, [&](size_t, DurationNs own, DurationNs) { sum += own; });
    return sum;
  }

  DurationNs AddStep(const Found& found, PhaseSums& sums) const {
    const std::vector<LayerRole> roles = RolesOfItems(*found.device, found.of);
    std::vector<LayerBlock> blocks = BlocksOf(roles, found.spans);
    ContinueBlocks(found, blocks);
    if (sums.steps++ == 0) {
      sums.layers.resize(found.spans.size());
      sums.kinds = KindsOf(roles, blocks, found.spans);
    }
    DurationNs all;
    size_t layer = 0;
    EachPiece(*found.device, found.of, [&](size_t i, DurationNs own, DurationNs gap) {
      while (layer < found.spans.size() && i >= found.spans[layer].end) ++layer;
      const bool inside = layer < found.spans.size() && i >= found.spans[layer].begin;
      BlockSums& of = (inside ? sums.layers[layer] : sums.outside)[static_cast<size_t>(blocks[i])];
      of.device += own;
      of.gap += gap;
      ++of.count;
      all += own;
    });
    return all;
  }

  // On a CPU engine an operator may be several pieces: all have the block of the first.
  void ContinueBlocks(const Found& found, std::vector<LayerBlock>& blocks) const {
    if (!prepared_.work.on_host) return;
    std::map<uint32_t, LayerBlock> of_row;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const WorkItem& item = found.device->items[found.of.items[i]];
      if (!item.continued) {
        of_row[item.row] = blocks[i];
      } else if (const auto of = of_row.find(item.row);
                 of != of_row.end() && IsInLayer(of->second) == IsInLayer(blocks[i])) {
        blocks[i] = of->second;
      }
    }
  }

  // "attention, experts": the mixer and the MLP. Layers of one such kind whose work differs are
  // numbered.
  static std::vector<std::string> KindsOf(const std::vector<LayerRole>& roles,
                                          const std::vector<LayerBlock>& blocks,
                                          const std::vector<LayerSpan>& spans) {
    std::vector<std::pair<std::string, std::vector<LayerRole>>> layers;
    std::map<std::string, std::vector<std::vector<LayerRole>>> variants;
    for (const LayerSpan& span : spans) {
      const auto has = [&](LayerBlock block) {
        return std::find(blocks.begin() + static_cast<ptrdiff_t>(span.begin),
                         blocks.begin() + static_cast<ptrdiff_t>(span.end),
                         block) != blocks.begin() + static_cast<ptrdiff_t>(span.end);
      };
      std::string kind(LayerBlockId(blocks[span.mixer]));
      if (has(LayerBlock::kExperts) || has(LayerBlock::kExpertsUp)) {
        kind += ", experts";
      } else if (has(LayerBlock::kMlpUp)) {
        kind += ", mlp";
      }
      std::vector<LayerRole> work(roles.begin() + static_cast<ptrdiff_t>(span.begin),
                                  roles.begin() + static_cast<ptrdiff_t>(span.end));
      std::erase_if(work, SaysNothing);
      auto& known = variants[kind];
      if (std::ranges::find(known, work) == known.end()) known.push_back(work);
      layers.emplace_back(std::move(kind), std::move(work));
    }
    std::vector<std::string> kinds;
    for (auto& [kind, work] : layers) {
      const auto& known = variants[kind];
      const auto variant = std::ranges::find(known, work) - known.begin();
      kinds.push_back(known.size() == 1 ? kind : kind + ' ' + std::to_string(variant + 1));
    }
    return kinds;
  }

  const PreparedTrace& prepared_;
  std::vector<LayerRole> roles_;  // by category
  std::vector<uint32_t> calls_;   // the steps of the calls; empty until they are needed
  std::vector<Found> found_;
  std::map<size_t, uint64_t> steps_with_;  // by number of layers
  bool any_work_ = false, any_mixer_ = false;
};

}  // namespace

std::string_view LayersStateId(LayersState state) {
  return kStateIds.at(static_cast<size_t>(state));
}

LayerTable FindLayers(const PreparedTrace& prepared) { return LayerFinding(prepared).Find(); }

}  // namespace tacho
