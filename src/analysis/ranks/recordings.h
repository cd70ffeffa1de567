#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/ranks.h"

namespace tacho {

// Which traces belong together. Indexes are into the traces that are given.

// When each trace was recorded, from its first event to its last; nullopt without events. In Unix
// time, by the base time of its header or its own (before 2024 events had Unix times). A trace that
// lost its base time has that which all others name: it is that of a quarter of a year. Without any
// these are the times of the files, which nothing places beside those of others.
std::vector<std::optional<Interval>> RecordedTimes(const std::vector<RankInput>& traces);

// Whether it is Unix time (2001 or later); what counts from the base of a header is less than a
// year.
bool IsUnixTime(TimeNs t);

// Whether two files are slices of one recording, as tools cut them out (prefill apart from decode):
// of one rank and device, with one trace id, which is new for each session of a profiler, and not
// of two sessions by their paths.
bool AreSlices(const RankInput& a, const RankInput& b);

// Slices of one recording whose device work overlaps in time, directly or through others: their
// windows cannot be added. Two or more of the workers each.
std::vector<std::vector<size_t>> OverlappingSlices(const std::vector<RankInput>& workers);

// Files that belong to one rank of one engine: indexes into the workers. An engine that profiles by
// stage writes one file for each stage of a rank, which are compared with other ranks as one; so
// are slices of one recording.
std::vector<std::vector<size_t>> GroupByRank(const std::vector<RankInput>& workers);

// The groups of each recording: indexes into `groups`. Of one recording are those that name the
// same world size and the same GPUs and overlap in time, directly or through others.
std::vector<std::vector<size_t>> RecordingsOf(const std::vector<RankInput>& workers,
                                              const std::vector<std::vector<size_t>>& groups);

// How `files` of one rank come to be several, as words in front of what follows: "recorded one
// after the other, "; "" where their times are unknown.
std::string HowRecorded(const std::vector<RankInput>& workers, const std::vector<size_t>& files);

}  // namespace tacho
