#pragma once

#include <string>
#include <string_view>

#include "analysis/speculation/speculation.h"

namespace tacho {

// How many proposed tokens an engine accepted, from its metrics (Prometheus' text) before and after
// a recording. vLLM counts drafts, proposed tokens and accepted tokens; these counters are added up
// over the engines of the server, and must not have gone back. SGLang shows the tokens that a step
// brought a request (spec_accept_length); of several engines, the mean.
Acceptance AcceptanceOf(std::string_view before, std::string_view after);

// Sets `of.accepted` by what `tacho record` kept for the worker that `trace` (a path) belongs to.
// If the steps say how many tokens were proposed, the share of accepted tokens is applied to these:
// a step may verify tokens of some of its requests only.
void AddKeptAcceptance(const std::string& trace, Speculation& of);

}  // namespace tacho
