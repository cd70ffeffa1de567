#include "report/words/block_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/words/compare_words.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr double kMostOfOverlap = 0.5;  // share of a change from which overlap explains it
constexpr double kMostOfIt = 0.8;       // share of lost overlap that the named blocks have
constexpr size_t kBlocksNamed = 3;

// A GPU's name without its maker and memory: "H100" of "NVIDIA H100 80GB HBM3".
std::string GpuName(std::string_view name) {
  for (const std::string_view maker : {"NVIDIA ", "AMD ", "GeForce ", "Instinct "}) {
    if (name.starts_with(maker)) name.remove_prefix(maker.size());
  }
  const size_t memory = name.find("GB");
  const size_t blank = memory == std::string_view::npos ? memory : name.find_last_of(" -", memory);
  return std::string(name.substr(0, blank));
}

}  // namespace

std::array<std::string, 2> SideNames(const RunChanges& changes) {
  const SideFacts &base = changes.base, &now = changes.now;
  const auto differ = [](const std::string& a, const std::string& b) {
    return a != b && !a.empty() && !b.empty();
  };
  std::array<std::string, 2> names = {"base", "new"};
  if (!changes.across) return names;
  const bool gpus = differ(base.gpus, now.gpus);
  if (differ(base.engine, now.engine)) {
    names = {base.engine, now.engine};
    if (gpus)
      names = {base.engine + ' ' + GpuName(base.gpus), now.engine + ' ' + GpuName(now.gpus)};
  } else if (gpus) {
    names = {GpuName(base.gpus), GpuName(now.gpus)};
    if (names[0] == names[1]) names = {base.gpus, now.gpus};
  }
  // The trace says what its GPU is called.
  for (std::string& name : names) name = VisibleText(name);
  return names;
}

std::string BlockLayersText(const BlockChange& block) {
  if (block.layers == 0) return "";
  std::string text;
  for (const BlockChange::Layer& layer : block.OddLayers())
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", layer.index,
                        SignedTime(layer.device.difference()));
  if (!text.empty()) return text;
  return fmt::format("{} x {}", block.layers, SignedTime(block.device.difference() / block.layers));
}

std::string OverlapInWords(const PhaseChange& phase) {
  const BlocksChange& blocks = phase.blocks;
  const double lost = -blocks.overlap.difference(), whole = phase.step.difference();
  if (!blocks.overlap.IsBeyondNoise() || (lost < 0) != (whole < 0) ||
      std::abs(lost) < kMostOfOverlap * std::abs(whole))
    return "";
  std::vector<std::pair<double, LayerBlock>> shares;
  for (const BlockChange& block : blocks.blocks)
    shares.emplace_back(-block.overlap.difference() / lost, block.block);
  std::ranges::sort(shares, std::greater{});
  std::string where;
  double named = 0;
  for (size_t i = 0; i < std::min(kBlocksNamed, shares.size()) && named < kMostOfIt; ++i) {
    named += shares[i].first;
    where += fmt::format("{}{}", i == 0 ? " in " : " and ", LayerBlockId(shares[i].second));
  }
  return fmt::format(": {} of overlap {}{}, {} ({})",
                     FormatDuration({std::llround(std::abs(lost))}), lost < 0 ? "won" : "lost",
                     where,
                     blocks.work.IsBeyondNoise() ? "and all work together changed, too"
                                                 : "while all work adds up to as much",
                     DifferenceText(blocks.work));
}

PhaseChange OfCommonParts(const PhaseChange& phase) {
  PhaseChange common = phase;
  if (!phase.blocks.compared()) return common;
  std::erase_if(common.parts, [](const NamedChange& part) { return !IsIdlePart(part.name); });
  for (const BlockChange& block : phase.blocks.blocks)
    common.parts.push_back({std::string(LayerBlockId(block.block)), block.device});
  std::ranges::stable_sort(common.parts, std::greater{}, [](const NamedChange& part) {
    return std::abs(part.change.difference());
  });
  return common;
}

}  // namespace tacho
