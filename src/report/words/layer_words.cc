#include "report/words/layer_words.h"

#include <fmt/format.h>

#include <map>

#include "text/format_number.h"

namespace tacho {

std::string_view WhyNoLayers(LayersState state) {
  switch (state) {
    case LayersState::kNoSteps:
      return "no step of the engine is named";
    case LayersState::kNoWork:
      return "no step has all its work";
    case LayersState::kNoMixer:
      return "no kernel is known as attention or a state space";
    case LayersState::kNoRepetition:
      return "no two kernels of attention, with a norm and products between them, follow each "
             "other "
             "in a step";
    case LayersState::kTimes:
      return "the device's times are refused";
    case LayersState::kFound:
    case LayersState::kCount:
      break;
  }
  return "";
}

std::string LayersText(const LayerTable& layers) {
  if (layers.state != LayersState::kFound) return "";
  std::string text = FormatCounted(layers.count, "layer") + " by the order of the kernels";
  if (layers.left_out > 0)
    text += fmt::format(", in {} of {} steps", FormatCount(layers.steps),
                        FormatCount(layers.steps + layers.left_out));
  std::map<std::string, uint64_t> kinds;
  for (const LayerRow& layer : layers.phases.front().layers) ++kinds[layer.kind];
  if (kinds.size() < 2) return text;
  std::string_view before = ": ";
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{} of {}", before, FormatCount(count), kind);
    before = "; ";
  }
  return text;
}

}  // namespace tacho
