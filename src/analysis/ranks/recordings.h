#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/ranks.h"

namespace tacho {

// Finds which traces belong together. All results are indexes into the traces that are passed in.

// When each trace was recorded, from its first event to its last; nullopt without events. The times
// are Unix times: they count from the base time in the header, or the file itself has Unix times
// (as files written before 2024 have). A trace that lost its base time gets the one that all others
// name, because a base time stays the same for a quarter of a year. If no trace has one, these are
// the times in the files, which cannot be compared between files.
std::vector<std::optional<Interval>> RecordedTimes(const std::vector<RankInput>& traces);

// Whether `t` is Unix time (2001 or later). Times that count from the base time of a header are
// shorter than a year.
bool IsUnixTime(TimeNs t);

// When the trace was, in Unix time; nullopt if that is unknown, or if it has no events.
std::optional<Interval> UnixTimeOf(const RankInput& trace);

// Whether two files are slices of one recording, made for example by a tool that separates prefill
// from decode. They must have the same rank, devices and trace id (a profiler makes a new id for
// each session), and their paths must not name two different sessions.
bool AreSlices(const RankInput& a, const RankInput& b);

// Finds slices of one recording whose device work overlaps in time, directly or through others, so
// that their windows cannot be added. Each entry has the indexes of two or more workers.
std::vector<std::vector<size_t>> OverlappingSlices(const std::vector<RankInput>& workers);

// Groups the files that belong to one rank of one engine, so that they are compared with other
// ranks as one: slices of one recording, and the files of an engine that writes one file for each
// stage of a rank. Each entry has indexes of workers.
std::vector<std::vector<size_t>> GroupByRank(const std::vector<RankInput>& workers);

// Collects `groups` into recordings; each entry has indexes of groups. Groups are of one recording
// if they name the same world size and the same GPUs and overlap in time, directly or through
// others.
std::vector<std::vector<size_t>> RecordingsOf(const std::vector<RankInput>& workers,
                                              const std::vector<std::vector<size_t>>& groups);

// Why several `files` claim the same rank, in words to which the caller adds more, such as
// "recorded one after the other, "; "" if their times are unknown.
std::string HowRecorded(const std::vector<RankInput>& workers, const std::vector<size_t>& files);

}  // namespace tacho
