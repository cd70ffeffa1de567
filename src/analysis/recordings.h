#pragma once

#include <string>
#include <vector>

#include "analysis/ranks.h"

namespace tacho {

// Which traces belong together. Indexes are into the workers that are given.

// Files that belong to one rank of one engine: indexes into the workers. An engine that profiles by
// stage writes one file for each stage of a rank, which are compared with other ranks as one.
std::vector<std::vector<size_t>> GroupByRank(const std::vector<RankInput>& workers);

// The groups of each recording: indexes into `groups`. Of one recording are those that name the
// same world size and overlap in time, directly or through others.
std::vector<std::vector<size_t>> RecordingsOf(const std::vector<RankInput>& workers,
                                              const std::vector<std::vector<size_t>>& groups);

// How `files` of one rank come to be several, as words in front of what follows: "recorded one
// after the other, "; "" where their times are not told.
std::string HowRecorded(const std::vector<RankInput>& workers, const std::vector<size_t>& files);

}  // namespace tacho
