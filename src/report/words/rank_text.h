#pragma once

#include <string>
#include <vector>

#include "analysis/ranks/ranks.h"
#include "analysis/ranks/ranks_apart.h"

namespace tacho {

// The ranks that are missing: "rank 2", "w1 rank 1, 3", "rank 2-7, 9, ... (1,234 in all)", "rank 1
// of 2 engines" if nothing in the traces distinguishes the engines. Names at most eight ranges,
// because a damaged header may claim any world size.
std::string MissingRanksText(const MissingRanks& missing);

// The missing ranks of all engines, separated by "; "; "" if no rank is missing. Names at most
// eight engines.
std::string MissingRanksText(const RankTable& ranks);

// "1 of 3 ranks missing"; "" if no rank is missing.
std::string MissingCountText(const RankTable& ranks);

// Whether each row has a name of its own.
bool NamesTellApart(const RankTable& ranks);

// The session of each row, as `--session` takes it. Empty if sessions cannot label the rows: a row
// has no session, a session is too long, or two rows share both name and session.
std::vector<std::string> SessionsOfRanks(const RankTable& ranks);

// The label of the row's rank: its name, "w0 TP1", or its path if it has no name or shares it with
// another rank.
std::string RankLabel(const RankTable& ranks, const RankRow& row);
// The label of the row with this path; the path itself if there is no such row.
std::string RankLabel(const RankTable& ranks, const std::string& path);

// Which ranks were compared: "of the 3 of 4 ranks with whole device times, "; "" if all were.
std::string ComparedText(const RankTable& ranks);
// What a late rank spent its time on: "idle time (host-late)".
std::string SkewCauseText(const SkewCause& cause);
// How a rank differs from the others: "waited for: 23.1 % of the others' time", "busy 42.1 %,
// others 69.8 %".
std::string ApartText(const RanksApart::Apart& apart);
// The ranks that do not differ: "59 others: busy 54.2 to 54.7 %". One line for each worker, or a
// single line if there are more than eight workers.
std::vector<std::string> RestTexts(const RanksApart& ranks);
// What makes a rank stand out: "23.1 % of seven ranks' time is waiting for TP3, whose host was late
// by 264 us a step", or "rank 3 computes longest: 650 us, 18.2 % more than the median of the
// others".
std::string StragglerText(const RankTable& ranks, const Straggler& straggler);

}  // namespace tacho
