#pragma once

#include <string_view>

#include "analysis/facts.h"

namespace tacho {

// Who wrote a trace, by what it says about itself. What it does not say is read from the name that
// vLLM ("dp0_pp0_tp1_dcp0_ep1_rank1", "rank1") or SGLang ("-TP-1-DP-0-PP-0-DECODE") gives the file.
// The worker is known from the run folder (".../traces/w0/...") or by the key that a recording
// gives ("tacho-20261123-112400-w0_rank0...").
RankIdentity IdentityOf(std::string_view path, const TraceFacts& facts);

}  // namespace tacho
