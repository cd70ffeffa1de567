#pragma once

#include <string>
#include <string_view>

#include "analysis/graphs/graph_table.h"

namespace tacho {

// Why no replayed graphs were found: "no graph was launched"; "" if graphs were found.
std::string_view WhyNoGraphs(GraphsState state);

// How the graphs were found, which launches are not among them, what their padding was, and which
// decode steps replayed none.
// `numbered`: the trace is whole, so its steps have numbers.
std::string GraphsText(const GraphTable& graphs, bool numbered);

// "12.5 % of the tokens that the graphs computed were padding"; "" if that is unknown.
std::string PaddingText(int64_t padding_tokens, int64_t batch_tokens);

}  // namespace tacho
