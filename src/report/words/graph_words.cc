#include "report/words/graph_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "text/format_number.h"

namespace tacho {
namespace {

// `numbered`: with the numbers of steps that `tacho view --step 17` takes.
std::string EagerText(const EagerSteps& eager, bool numbered) {
  std::string text = fmt::format("{} of {} decode steps launched no graph",
                                 FormatCount(eager.count), FormatCount(eager.of));
  if (!numbered) return text;
  std::vector<uint64_t> numbers;
  for (const uint32_t index : eager.indexes) numbers.push_back(index + uint64_t{1});
  return text + fmt::format(": {} {}{}", numbers.size() == 1 ? "step" : "steps",
                            fmt::join(numbers, ", "),
                            eager.count > numbers.size() ? " and others" : "");
}

// What padding cost in decode steps.
std::string CostText(const DecodePadding& padding) {
  std::string text;
  if (padding.cost.ns > 0)
    text =
        fmt::format("; padding costs decode steps up to {}, {} of their device time",
                    FormatDuration(padding.cost), FormatShare(padding.cost, padding.device_time));
  if (padding.uncompared > 0)
    text += fmt::format("; {} with padding have no smaller graph to compare with",
                        FormatCounted(padding.uncompared, "launch", "launches"));
  return text;
}

}  // namespace

std::string_view WhyNoGraphs(GraphsState state) {
  switch (state) {
    case GraphsState::kNoLaunches:
      return "no graph was launched";
    case GraphsState::kNoWork:
      return "no graph launch has all its work";
    case GraphsState::kAsOne:
      return "each launch is recorded as one piece; nsys profile --cuda-graph-trace=node records "
             "the kernels";
    case GraphsState::kTimes:
      return "the device's times are refused";
    case GraphsState::kFound:
    case GraphsState::kCount:
      break;
  }
  return "";
}

std::string GraphsText(const GraphTable& graphs, bool numbered) {
  std::string text = graphs.by_id ? "nodes by their ids" : "nodes by the order of the kernels";
  if (graphs.without_work > 0)
    text += fmt::format("; {} of {} launches without work", FormatCount(graphs.without_work),
                        FormatCount(graphs.launches));
  if (graphs.unknown > 0)
    text += fmt::format("; {} of {} launches fit no graph", FormatCount(graphs.unknown),
                        FormatCount(graphs.launches));
  if (graphs.batch_tokens > 0)
    text += "; " + PaddingText(graphs.padding_tokens, graphs.batch_tokens);
  if (graphs.decode_padding) text += CostText(*graphs.decode_padding);
  if (std::ranges::any_of(graphs.list, [](const GraphRow& graph) { return !graph.batch; }))
    text += "; no batch: no kernel's grid tells it, grids differ, or a step had more tokens";
  if (graphs.eager && graphs.eager->count > 0) text += "; " + EagerText(*graphs.eager, numbered);
  return text;
}

std::string PaddingText(int64_t padding_tokens, int64_t batch_tokens) {
  if (batch_tokens <= 0) return "";
  return fmt::format(
      "{} % of the {} tokens that the graphs computed were padding",
      FormatPercent(static_cast<double>(padding_tokens) / static_cast<double>(batch_tokens)),
      FormatCount(batch_tokens));
}

}  // namespace tacho
