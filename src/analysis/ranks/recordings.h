#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/ranks.h"

namespace tacho {

// Which traces belong together. Indexes are into the traces that are given.

// When each trace was recorded, from its first event to its last; nullopt without events. In Unix
// time: by the base time of its header, or because its times are Unix times (as before 2024). A
// trace that lost its base time gets the one that all others name, which is the same for a quarter
// of a year. Without any base time, these are the times in the files, which cannot be compared
// between files.
std::vector<std::optional<Interval>> RecordedTimes(const std::vector<RankInput>& traces);

// Whether `t` is Unix time (2001 or later). Times that count from the base of a header are less
// than a year.
bool IsUnixTime(TimeNs t);

// Whether two files are slices of one recording, as tools cut them out (prefill apart from decode):
// same rank, devices and trace id, which is new for each session of a profiler; and their paths do
// not name two sessions.
bool AreSlices(const RankInput& a, const RankInput& b);

// Slices of one recording whose device work overlaps in time, directly or through others: their
// windows cannot be added. Each entry has the indexes of two or more workers.
std::vector<std::vector<size_t>> OverlappingSlices(const std::vector<RankInput>& workers);

// Files that belong to one rank of one engine: indexes into the workers. An engine that profiles by
// stage writes one file for each stage of a rank; together they are compared with other ranks as
// one. So are slices of one recording.
std::vector<std::vector<size_t>> GroupByRank(const std::vector<RankInput>& workers);

// The groups of each recording: indexes into `groups`. Groups are of one recording if they name the
// same world size and the same GPUs and overlap in time, directly or through others.
std::vector<std::vector<size_t>> RecordingsOf(const std::vector<RankInput>& workers,
                                              const std::vector<std::vector<size_t>>& groups);

// Why one rank has several `files`, as words in front of what follows: "recorded one after the
// other, "; "" if their times are unknown.
std::string HowRecorded(const std::vector<RankInput>& workers, const std::vector<size_t>& files);

}  // namespace tacho
