#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "load/result/records.h"

namespace tacho {

// The times of one request in nanoseconds, as docs/metrics.md defines them. A time is absent if it
// is unknown (as for unsure chunks, records.h) or if a profiler's flush delayed the request.

// From sending to the first token.
std::optional<int64_t> TtftNs(const RequestRecord& record);
// From sending to the last chunk with a choice; the final usage and [DONE] do not count.
std::optional<int64_t> EndToEndNs(const RequestRecord& record);
// (end to end - TTFT) / (tokens - 1); absent for fewer than two tokens.
std::optional<double> TpotNs(const RequestRecord& record);
// Counted from the scheduled time instead of the sending: what a user who came at that time saw. If
// in-flight requests are limited, a slow engine also delays the sending; times counted from the
// sending hide that delay (coordinated omission).
std::optional<int64_t> IntendedTtftNs(const RequestRecord& record);
std::optional<int64_t> IntendedEndToEndNs(const RequestRecord& record);
// How long the limit of in-flight requests delayed the request: admitted - intended.
int64_t QueueNs(const RequestRecord& record);
// How long the client itself delayed the request: handed - admitted.
std::optional<int64_t> LatenessNs(const RequestRecord& record);

// Appends the times between chunks with tokens (`chunk_gap`; vLLM's client calls them "ITL").
void AppendChunkGaps(const RequestRecord& record, std::vector<double>& gaps);
// Appends one time per token from the second chunk on: the gap before the token's chunk, divided
// evenly among the chunk's tokens. Appends nothing if the chunks' token counts are unknown.
void AppendTokenGaps(const RequestRecord& record, std::vector<double>& gaps);

// Whether so many requests have unsure times that a figure cannot just leave them out: more than
// one in twenty.
inline bool TooManyUnsure(uint64_t unsure, uint64_t requests) { return unsure * 20 > requests; }

}  // namespace tacho
