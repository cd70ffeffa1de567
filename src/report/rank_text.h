#pragma once

#include <string>

#include "analysis/ranks.h"

namespace tacho {

// The ranks that are missing: "2", "1, 3", "2-7, 9, ... (1,234 in all)"; "" when none is. At most
// eight ranges, whatever world size a header claims.
std::string MissingRanksText(const RankTable& ranks);

// "1 of 3 ranks missing"; "" when none is.
std::string MissingCountText(const RankTable& ranks);

// Whether the names of the rows tell all of them apart.
bool NamesTellApart(const RankTable& ranks);

// What the rank of the row is called: "w0 TP1"; by its path where other ranks are called the same,
// or nothing tells which rank it is.
std::string RankLabel(const RankTable& ranks, const RankRow& row);

}  // namespace tacho
