#include "report/words/roofline_words.h"

#include <fmt/format.h>

#include "text/format_number.h"

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
      return "the accelerator has no peak for the number format of the model, or kernels run in 8 "
             "bits "
             "where its configuration has 16";
    case RooflineLack::kSteps:
      return "no step has all its work on a GPU";
    case RooflineLack::kDevices:
      return "the trace has several devices (--device)";
    case RooflineLack::kTokens:
      return "no step says its requests and tokens";
    case RooflineLack::kLengths:
      return "the lengths of requests are not known, so attention and whole phases have no roof "
             "(--context-length, or the engine's detailed annotations)";
    case RooflineLack::kLayers:
      return "no layers were found, so nothing shows that the model is this one";
    case RooflineLack::kOtherModel:
      return "the trace does not have the layers of the model: it is another one, or a stage of a "
             "pipeline";
    case RooflineLack::kDoesNotFit:
      return "work would be faster than the hardware can be: the model, the accelerator, the ranks "
             "or the number formats are not those of the trace";
    case RooflineLack::kRoutedTokens:
      return "other ranks send tokens for the experts, and nothing says how many, so experts and "
             "whole "
             "phases have no roof";
    case RooflineLack::kCount:
      break;
  }
  return "";
}

std::string MissingText(const Roofline& roofline) {
  std::string text;
  for (const RooflineLack lack : roofline.missing)
    text += fmt::format("{}{}", text.empty() ? "" : "; ", WhatIsMissing(lack));
  return text;
}

std::string WhyNoRoofline(const Roofline& roofline) {
  return roofline.wanted() ? MissingText(roofline)
                           : std::string(WhatIsMissing(RooflineLack::kModel));
}

std::string RooflineText(const Roofline& roofline) {
  std::string text = fmt::format("{} of {}", roofline.model,
                                 FormatCounted(static_cast<uint64_t>(roofline.layers), "layer"));
  if (roofline.ranks > 0)
    text += fmt::format(" on {}", FormatCounted(static_cast<uint64_t>(roofline.ranks), "rank"));
  if (!roofline.gpu.empty()) {
    text += fmt::format("; {}: {:.0f} TFLOP/s in 16 bits, {:.2f} TB/s", roofline.gpu,
                        roofline.peak_flops[0] / 1e12, roofline.peak_bytes_s / 1e12);
  }
  return text;
}

}  // namespace tacho
