#include "report/words/roofline_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/words/kernel_names.h"
#include "text/distinct_text.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {

std::string_view WhatIsMissing(RooflineLack lack) {
  switch (lack) {
    case RooflineLack::kModel:
      return "the model is not known (--model-config)";
    case RooflineLack::kGpu:
      return "the peaks of the accelerator are not known (--gpu)";
    case RooflineLack::kRanks:
      return "it is not known how many ranks share each matrix, or they do not divide its heads "
             "(--tensor-parallel)";
    case RooflineLack::kFormat:
      return "the accelerator has no peak for the number format of the model";
    case RooflineLack::kSteps:
      return "no step has all its work on a GPU";
    case RooflineLack::kDevices:
      return "the trace has several devices (--device)";
    case RooflineLack::kTokens:
      return "no step says its requests and tokens";
    case RooflineLack::kLengths:
      return "the lengths of requests are not known (--context-length, or the engine's detailed "
             "annotations)";
    case RooflineLack::kLayers:
      return "no layers were found, so nothing shows that the model is this one";
    case RooflineLack::kOtherModel:
      return "the trace does not have the layers of the model: it is another one, or a stage of a "
             "pipeline";
    case RooflineLack::kDoesNotFit:
      return "work would be faster than the hardware can be: the model, the accelerator, the ranks "
             "or the number formats are not those of the trace";
    case RooflineLack::kRoutedTokens:
      return "other ranks send tokens for the experts, and nothing says how many";
    case RooflineLack::kStage:
      return "the rank is a stage of a pipeline, and it is not known which layers it has";
    case RooflineLack::kLinks:
      return "the peak of the accelerator's links is not known";
    case RooflineLack::kCount:
      break;
  }
  return "";
}

namespace {

std::string TextOf(RooflineLack lack, const Roofline& roofline) {
  if (lack == RooflineLack::kFormat && !roofline.unknown_format.empty())
    return fmt::format("the engine was told '{}', which has no formulas",
                       VisibleText(roofline.unknown_format));
  if (lack == RooflineLack::kFormat && !roofline.format_kernel.empty())
    return fmt::format("{} computes in 8 bits, and the model's configuration has 16",
                       FitDistinct({roofline.format_kernel},
                                   ShownKernelNames({roofline.format_kernel}, {}), kShortName, true)
                           .front());
  return std::string(WhatIsMissing(lack));
}

// "no roof: whole phases, attention (lengths)".
std::string RefusedText(const Roofline& roofline) {
  std::vector<std::pair<RooflineLack, std::vector<std::string>>> reasons;
  for (const RoofRefusal& of : roofline.refused) {
    auto reason = std::ranges::find(reasons, of.why, [](const auto& one) { return one.first; });
    if (reason == reasons.end()) reason = reasons.insert(reason, {of.why, {}});
    std::string name = of.block.empty() ? std::string("whole phases") : of.block;
    if (std::ranges::find(reason->second, name) == reason->second.end())
      reason->second.push_back(std::move(name));
  }
  std::string text;
  for (const auto& [why, names] : reasons)
    text += fmt::format("{}{} ({})", text.empty() ? "no roof: " : ", ", fmt::join(names, ", "),
                        RooflineLackId(why));
  return text;
}

}  // namespace

std::string MissingText(const Roofline& roofline) {
  std::string text;
  for (const RooflineLack lack : roofline.missing)
    text += fmt::format("{}{}", text.empty() ? "" : "; ", TextOf(lack, roofline));
  if (const std::string refused = RefusedText(roofline); !refused.empty())
    text += (text.empty() ? "" : "; ") + refused;
  return text;
}

std::string WhyNoRoofline(const Roofline& roofline) {
  return roofline.wanted() ? MissingText(roofline)
                           : std::string(WhatIsMissing(RooflineLack::kModel));
}

std::string RooflineText(const Roofline& roofline) {
  std::string text = fmt::format("{} of {}", roofline.model,
                                 FormatCounted(static_cast<uint64_t>(roofline.layers), "layer"));
  if (roofline.stages > 1) text += fmt::format(", one of {} stages,", roofline.stages);
  if (roofline.ranks > 0)
    text += fmt::format(" on {}", FormatCounted(static_cast<uint64_t>(roofline.ranks), "rank"));
  if (!roofline.gpu.empty()) {
    text += fmt::format("; {}: {:.0f} TFLOP/s in 16 bits, {:.2f} TB/s", roofline.gpu,
                        roofline.peak_flops[0] / 1e12, roofline.peak_bytes_s / 1e12);
  }
  return text;
}

}  // namespace tacho
