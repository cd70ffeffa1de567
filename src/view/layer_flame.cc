#include "view/layer_flame.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/layers/block_runs.h"

namespace tacho {
namespace {

class FlameMaker {
 public:
  FlameMaker(const RankRows& rank, Interval window) : rank_(rank), window_(window) {}

  // Runs must come step by step. `when`: that of the run's slice.
  void Add(uint32_t run, Interval when, uint8_t color) {
    const LayerRows& layers = rank_.layers();
    const LayerRows::Run& of = layers[run];
    const Phase phase = rank_.steps()[of.step].label.phase;
    const bool new_step = step_ != of.step;
    uint32_t node =
        Child(0, static_cast<uint32_t>(phase), PhaseName(phase), ColorOfBlock(LayerBlock::kOther));
    nodes_[node].count += new_step ? 1 : 0;
    if (of.layer != BlockRun::kOutside) {
      node =
          Child(node, kAfterBlocks + of.layer, layers.NameOf(of.layer), layers.ColorOf(of.layer));
      nodes_[node].count += new_step || layer_ != of.layer ? 1 : 0;
    }
    step_ = of.step;
    layer_ = of.layer;
    node = Child(node, static_cast<uint32_t>(of.block), LayerBlockId(of.block), color);
    ++nodes_[node].count;
    const DurationNs sum = AddPieces(node, layers.PiecesOf(run), when, color);
    for (; node != 0; node = nodes_[node].parent) nodes_[node].total += sum;
  }
  [[nodiscard]] const std::vector<FlameNode>& nodes() const { return nodes_; }

 private:
  // Keys of layers come after those of blocks, because a phase has both as children.
  static constexpr uint32_t kAfterBlocks = kLayerBlocks;

  uint32_t Child(uint32_t parent, uint32_t key, std::string_view name, uint8_t color) {
    const auto number = static_cast<uint32_t>(nodes_.size());
    const auto [at, added] = children_.try_emplace({parent, key}, number);
    if (added) nodes_.push_back({name, color, parent, 0, {}, {}});
    return at->second;
  }

  // Returns the time of the pieces inside the window.
  DurationNs AddPieces(uint32_t block, LayerRows::Pieces pieces, Interval when, uint8_t color) {
    DurationNs sum;
    TimeNs until = when.start;
    for (size_t i = 0; i < pieces.rows.size(); ++i) {
      const uint32_t row = pieces.rows[i];
      Interval own;
      if (pieces.times.empty()) {
        own = rank_.trace().gpu.When(row);
        own = {std::max(until, own.start), std::max(until, own.end)};
        until = own.end;
      } else {
        own = pieces.times[i];
      }
      const DurationNs inside = own.Clip(window_).length();
      const uint32_t name = NameOf(row, !pieces.times.empty());
      FlameNode& node = nodes_[Child(block, name, rank_.names()[name], color)];
      ++node.count;
      node.total += inside;
      sum += inside;
    }
    return sum;
  }
  // The id in RankNames of a piece's name. `row`: WorkItem::row.
  [[nodiscard]] uint32_t NameOf(uint32_t row, bool on_host) const {
    const Trace& trace = rank_.trace();
    if (!on_host) return rank_.names().of_gpu_work()[Index(trace.gpu.name[row])];
    const size_t ops = trace.host_ops.size();
    const StringId name = row < ops ? trace.host_ops.name[row] : trace.annotations.name[row - ops];
    return rank_.names().of_others()[Index(name)];
  }

  const RankRows& rank_;
  Interval window_;
  std::vector<FlameNode> nodes_{1};
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> children_;  // by parent and key
  uint32_t step_ = kNoStep, layer_ = 0;                         // of the run before
};

}  // namespace

std::vector<FlameNode> LayerFlame(const RankRows& rank, const TimelineRow& blocks, Interval window,
                                  DurationNs least, size_t most) {
  struct Shown {
    uint32_t run;
    Interval when;
    uint8_t color;
  };
  std::vector<Shown> shown;
  size_t pieces = 0;
  for (const Lane& lane : blocks.lanes) {
    const Lane::Places places = lane.In(window);
    for (size_t place = places.first; place < places.last; ++place) {
      const auto runs = rank.layers().RunsOf(lane[place].row());
      if (!runs) continue;
      shown.push_back({runs->first, lane.When(place), lane.ColorOf(place)});
      pieces += rank.layers().PiecesOf(runs->first).rows.size();
    }
  }
  if (pieces > most) return {};
  std::ranges::sort(shown, {}, &Shown::run);  // step by step, also where steps overlap
  FlameMaker flame(rank, window);
  for (const Shown& of : shown) flame.Add(of.run, of.when, of.color);
  return PrunedFlame(flame.nodes(), least);
}

}  // namespace tacho
