#include "report/words/roofline_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
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
    case RooflineLack::kDrafts:
      return "a draft model runs in steps that verify its tokens, and its work is not known";
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
    return fmt::format("{} takes 8-bit activations, and the model's configuration has 16-bit ones",
                       FitDistinct({roofline.format_kernel},
                                   ShownKernelNames({roofline.format_kernel}, {}), kShortName, true)
                           .front());
  return std::string(WhatIsMissing(lack));
}

std::string_view BriefReason(RooflineLack lack) {
  switch (lack) {
    case RooflineLack::kFormat:
      return "its number format";
    case RooflineLack::kTokens:
      return "its steps do not all say their tokens";
    case RooflineLack::kLengths:
      return "the lengths of requests are not known";
    case RooflineLack::kDoesNotFit:
      return "it would be faster than the hardware";
    case RooflineLack::kRoutedTokens:
      return "other ranks send tokens";
    case RooflineLack::kDrafts:
      return "a draft model runs in its steps";
    default:
      return RooflineLackId(lack);
  }
}

// "no roof: decode: attention (the lengths of requests are not known)".
std::string RefusedText(const Roofline& roofline) {
  std::map<std::pair<RooflineLack, std::vector<std::string>>, std::vector<Phase>> reasons;
  std::map<std::pair<RooflineLack, Phase>, std::vector<std::string>> blocks;
  for (const RoofRefusal& of : roofline.refused)
    blocks[{of.why, of.phase}].push_back(of.block.empty() ? "as a whole" : of.block);
  for (const auto& [key, names] : blocks) reasons[{key.first, names}].push_back(key.second);
  std::vector<std::string> texts;
  for (const auto& [key, phases] : reasons) {
    std::vector<std::string_view> of;
    for (const Phase phase : phases) of.push_back(PhaseName(phase));
    texts.push_back(fmt::format("{} {} ({})", fmt::join(of, " and "), fmt::join(key.second, ", "),
                                BriefReason(key.first)));
  }
  return texts.empty() ? "" : fmt::format("no roof: {}", fmt::join(texts, "; "));
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

std::string GemmsText(const TraceAnalysis& trace) {
  const bool graphs = trace.graphs.launches > 0;
  if (trace.ops.gemms.empty()) {
    if (trace.ops.by_shape.empty())
      return "no GEMMs by shape: the profiler recorded no shapes (record_shapes)";
    return fmt::format("no GEMMs by shape: no operator of a known form launched one{}",
                       graphs ? "; a graph's work has no operator" : "");
  }
  DurationNs listed, all;
  for (const GemmRow& row : trace.ops.gemms) listed += row.device;
  for (const CategoryRow& row : trace.kernels.categories) {
    if (row.category.starts_with("gemm") || row.category == "moe.gemm") all += row.total;
  }
  return fmt::format("GEMMs by shape: {} beside {} of all GEMM kernels of the trace; {}",
                     FormatDuration(listed), FormatDuration(all),
                     graphs ? "a graph's work has no operator"
                            : "the rest is of other operators, or its launch is not in the trace");
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
