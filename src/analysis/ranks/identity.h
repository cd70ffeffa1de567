#pragma once

#include <string_view>

#include "analysis/facts.h"

namespace tacho {

// Which rank of which worker wrote a trace, by what the trace says. What it does not say is read
// from the name that vLLM ("dp0_pp0_tp1_dcp0_ep1_rank1", "rank1") or SGLang
// ("-TP-1-DP-0-PP-0-DECODE") gives the file. The worker is read from the run folder
// (".../traces/w0/...") or from the key that a recording puts into file names
// ("tacho-20261123-112400-w0_rank0...").
RankIdentity IdentityOf(std::string_view path, const TraceFacts& facts);

}  // namespace tacho
