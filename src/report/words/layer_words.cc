#include "report/words/layer_words.h"

#include <fmt/format.h>

#include <map>

#include "text/format_number.h"

namespace tacho {

std::string LayersText(const LayerTable& layers, const PhaseLayers& phase) {
  std::string text = FormatCounted(layers.count, "layer") + " by the order of the kernels";
  if (layers.as_configured) text += ", as the model's configuration has";
  if (layers.modules.any()) {
    DurationNs in_layers;
    for (const PhaseLayers& of : layers.phases)
      for (const LayerRow& layer : of.layers) in_layers += layer.device;
    text += fmt::format(", {} of their time in the module of that number",
                        FormatShare(layers.modules.same, in_layers));
    if (layers.modules.other.ns > 0)
      text += fmt::format(" and {} by another", FormatShare(layers.modules.other, in_layers));
  }
  if (layers.left_out + layers.unknown > 0) {
    text += fmt::format(", in {} of {} steps", FormatCount(layers.steps),
                        FormatCount(layers.steps + layers.left_out + layers.unknown));
  }
  std::map<std::string, uint64_t> kinds;
  for (const LayerRow& layer : phase.layers) ++kinds[layer.kind];
  if (kinds.size() > 1) {
    std::string_view before = ": ";
    for (const auto& [kind, count] : kinds) {
      text += fmt::format("{}{} of {}", before, FormatCount(count), kind);
      before = "; ";
    }
  }
  return text + "; in gaps no work of the step ran, but other steps' may have";
}

}  // namespace tacho
