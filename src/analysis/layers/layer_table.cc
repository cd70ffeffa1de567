#include "analysis/layers/layer_table.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/layers/step_roles.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(LayersState::kCount)> kStateIds = {
    "found", "no-steps", "no-work", "no-mixer", "no-repetition", "irregular", "times-refused"};

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

// The layers of a step, which follow from its roles alone. Steps with equal roles share one
// Structure.
struct Structure {
  std::vector<LayerSpan> layers;  // empty: no layers found, or none reliable
  std::vector<LayerBlock> blocks;
  bool irregular = false;
};

Structure StructureOf(const std::vector<LayerRole>& roles) {
  Structure of{FindLayerSpans(roles), {}, false};
  of.irregular = !of.layers.empty() && !AreRegular(roles, of.layers);
  if (of.irregular) of.layers.clear();
  if (!of.layers.empty()) of.blocks = BlocksOf(roles, of.layers);
  return of;
}

// Sums over the steps of one phase.
struct PhaseSums {
  uint64_t steps = 0;
  std::vector<uint32_t> step_indexes;
  std::vector<SumsByBlock> layers;
  std::vector<std::string> kinds;
  SumsByBlock outside{};
};

class LayerFinding {
 public:
  explicit LayerFinding(const PreparedTrace& prepared) : prepared_(prepared) {}

  LayerTable Find() {
    if (!prepared_.integrity.device_times()) return Without(LayersState::kTimes);
    if (prepared_.steps.steps.empty()) return Without(LayersState::kNoSteps);
    for (StepRoles& step : RolesOfSteps(prepared_)) Add(std::move(step));
    return std::move(*this).Finish();
  }

 private:
  struct Found {
    StepRoles of;
    const Structure* structure;

    [[nodiscard]] size_t layers() const {
      return of.several_streams ? 0 : structure->layers.size();
    }
  };

  static LayerTable Without(LayersState state) {
    LayerTable table;
    table.state = state;
    return table;
  }

  void Add(StepRoles step) {
    const std::string key(reinterpret_cast<const char*>(step.roles.data()), step.roles.size());
    const auto [at, is_new] = structures_.try_emplace(key);
    if (is_new) at->second = StructureOf(step.roles);
    found_.push_back({std::move(step), &at->second});
    const Found& found = found_.back();
    any_mixer_ = any_mixer_ || std::ranges::any_of(found.of.roles, IsMixer);
    irregular_ = irregular_ || found.structure->irregular || found.of.several_streams;
    ++steps_with_[found.layers()];
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
      return Without(found_.empty() ? LayersState::kNoWork
                     : irregular_   ? LayersState::kIrregular
                     : any_mixer_   ? LayersState::kNoRepetition
                                    : LayersState::kNoMixer);
    }
    LayerTable table;
    table.state = LayersState::kFound;
    table.count = static_cast<uint32_t>(count);
    std::map<Phase, PhaseSums> phases;
    for (const Found& found : found_) {
      const bool counts = found.layers() == count;
      const Phase phase = prepared_.steps.steps[found.of.step].label.phase;
      const DurationNs device = counts ? AddStep(found, phases[phase]) : TimeOf(found.of);
      table.device += device;
      if (counts) table.in_steps += device;
      counts ? ++table.steps : ++table.left_out;
    }
    table.unknown = static_cast<uint64_t>(std::ranges::count_if(
        prepared_.steps.steps, [](const Step& step) { return step.lost_work || step.cut; }));
    for (const auto& [phase, sums] : phases) {
      PhaseLayers& of = table.phases.emplace_back();
      of.phase = phase;
      of.steps = sums.steps;
      of.step_indexes = sums.step_indexes;
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

  // Calls `visit` for each piece of a step's work, with the time that is charged to the piece and
  // the length of the gap before it.
  static void EachPiece(const StepRoles& of, auto visit) {
    const DeviceItems& device = *of.device;
    TimeNs until = device.items[of.items.front()].when.start;
    for (size_t i = 0; i < of.items.size(); ++i) {
      const Interval when = device.items[of.items[i]].when;
      const DurationNs gap = std::max(DurationNs{}, when.start - until);
      const DurationNs own = std::max(DurationNs{}, when.end - std::max(until, when.start));
      until = std::max(until, when.end);
      visit(i, own, gap);
    }
  }
  static DurationNs TimeOf(const StepRoles& of) {
    DurationNs sum;
    EachPiece(of, [&](size_t, DurationNs own, DurationNs) { sum += own; });
    return sum;
  }

  DurationNs AddStep(const Found& found, PhaseSums& sums) const {
    const std::vector<LayerSpan>& layers = found.structure->layers;
    std::vector<LayerBlock> continued;  // for a CPU engine
    if (prepared_.work.on_host) continued = ContinuedBlocks(found);
    const std::vector<LayerBlock>& blocks =
        prepared_.work.on_host ? continued : found.structure->blocks;
    sums.step_indexes.push_back(found.of.step);
    if (sums.steps++ == 0) {
      sums.layers.resize(layers.size());
      sums.kinds = KindsOf(found.of.roles, blocks, layers);
    }
    DurationNs all;
    size_t layer = 0;
    EachPiece(found.of, [&](size_t i, DurationNs own, DurationNs gap) {
      while (layer < layers.size() && i >= layers[layer].end) ++layer;
      const bool inside = layer < layers.size() && i >= layers[layer].begin;
      BlockSums& of = (inside ? sums.layers[layer] : sums.outside)[static_cast<size_t>(blocks[i])];
      of.device += own;
      of.gap += gap;
      ++of.count;
      all += own;
    });
    return all;
  }

  // On a CPU engine one operator may be several pieces of work. A later piece gets the block of the
  // operator's first piece, unless one of these two pieces is inside a layer and the other is not.
  static std::vector<LayerBlock> ContinuedBlocks(const Found& found) {
    std::vector<LayerBlock> blocks = found.structure->blocks;
    std::map<uint32_t, LayerBlock> of_row;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const WorkItem& item = found.of.device->items[found.of.items[i]];
      if (!item.continued) {
        of_row[item.row] = blocks[i];
      } else if (const auto of = of_row.find(item.row);
                 of != of_row.end() && IsInLayer(of->second) == IsInLayer(blocks[i])) {
        blocks[i] = of->second;
      }
    }
    return blocks;
  }

  // Names each layer by its mixer and its MLP: "attention, experts". If layers of the same name
  // have different work, they are numbered.
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
      std::vector<LayerRole> work = TellingRoles(roles, span.begin, span.end);
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
  std::unordered_map<std::string, Structure> structures_;  // the key is the sequence of roles
  std::vector<Found> found_;
  std::map<size_t, uint64_t> steps_with_;  // keyed by number of layers
  bool any_mixer_ = false, irregular_ = false;
};

}  // namespace

std::string_view LayersStateId(LayersState state) {
  return kStateIds.at(static_cast<size_t>(state));
}

LayerTable FindLayers(const PreparedTrace& prepared) { return LayerFinding(prepared).Find(); }

}  // namespace tacho
