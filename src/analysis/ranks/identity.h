#pragma once

#include <string_view>

#include "analysis/facts.h"

namespace tacho {

// Who wrote a trace, by what it says of itself; what it does not say, by the name of its file as
// vLLM ("dp0_pp0_tp1_dcp0_ep1_rank1", "rank1") and SGLang ("-TP-1-DP-0-PP-0-DECODE") make it. The
// worker is known from the run folder (".../traces/w0/...") or by the key that a recording gives
// ("tacho-20261123-112400-w0_rank0...").
RankIdentity IdentityOf(std::string_view path, const TraceFacts& facts);

}  // namespace tacho
