#pragma once

#include <string>
#include <vector>

#include "analysis/ranks/ranks.h"
#include "analysis/ranks/ranks_apart.h"

namespace tacho {

// The ranks that are missing: "rank 2", "w1 rank 1, 3", "rank 2-7, 9, ... (1,234 in all)",
// "rank 1 of 2 engines" if nothing in the traces distinguishes the engines. At most eight ranges,
// whatever world size a header claims.
std::string MissingRanksText(const MissingRanks& missing);

// The missing ranks of all engines, separated by "; "; "" if no rank is missing. At most eight
// engines.
std::string MissingRanksText(const RankTable& ranks);

// "1 of 3 ranks missing"; "" when no rank is.
std::string MissingCountText(const RankTable& ranks);

// Whether each row has a name of its own.
bool NamesTellApart(const RankTable& ranks);

// The session of each row, as `--session` takes it. Empty unless rows that share a name can be told
// apart by these, and all are short.
std::vector<std::string> SessionsOfRanks(const RankTable& ranks);

// The label of the row's rank: "w0 TP1", or its path if another rank has the same name or the rank
// is unknown.
std::string RankLabel(const RankTable& ranks, const RankRow& row);
// The label of the row with this path; the path itself if there is no such row.
std::string RankLabel(const RankTable& ranks, const std::string& path);

// "of the 3 of 4 ranks with whole device times, "; "" where all are compared.
std::string ComparedText(const RankTable& ranks);
// "idle time (host-late)"
std::string SkewCauseText(const SkewCause& cause);
// "waited for: 23.1 % of the others' time", "busy 42.1 %, others 69.8 %"
std::string ApartText(const RanksApart::Apart& apart);
// "59 others: busy 54.2 to 54.7 %", a line for each worker, or one for all workers if there are
// more than eight.
std::vector<std::string> RestTexts(const RanksApart& ranks);
// "23.1 % of seven ranks' time is waiting for TP3, whose host was late by 264 us a step", or "rank
// 3 computes longest: 650 us, 18.2 % more than the median of the others".
std::string StragglerText(const RankTable& ranks, const Straggler& straggler);

}  // namespace tacho
