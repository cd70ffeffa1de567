#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "load/result/records.h"

namespace tacho {

// The times of one request by the definitions of docs/metrics.md, in nanoseconds. Absent if
// unknown, as for unsure chunks (records.h), and if the request met a flush, since the profiler
// then delayed it.

// From the sending to the first token.
std::optional<int64_t> TtftNs(const RequestRecord& record);
// From the sending to the last chunk with a choice; the final usage and [DONE] do not count.
std::optional<int64_t> EndToEndNs(const RequestRecord& record);
// (end to end - TTFT) / (tokens - 1); absent below two tokens.
std::optional<double> TpotNs(const RequestRecord& record);
// From the scheduled time instead of the sending: what a user who came at that time saw. A slow
// engine also delays the sending if in-flight requests are limited; times from the sending hide
// that (coordinated omission).
std::optional<int64_t> IntendedTtftNs(const RequestRecord& record);
std::optional<int64_t> IntendedEndToEndNs(const RequestRecord& record);
// The delay by the limit of in-flight requests: admitted - intended.
int64_t QueueNs(const RequestRecord& record);
// The delay by the client: handed - admitted.
std::optional<int64_t> LatenessNs(const RequestRecord& record);

// Appends the times between chunks that carried tokens (`chunk_gap`; "ITL" of vLLM's client).
void AppendChunkGaps(const RequestRecord& record, std::vector<double>& gaps);
// Appends one time per token from the second chunk on: the gap before its chunk, divided evenly
// among the chunk's tokens. Appends nothing if the tokens of each chunk are unknown.
void AppendTokenGaps(const RequestRecord& record, std::vector<double>& gaps);

// Whether too many requests have unsure times for a figure to leave them out: more than one in
// twenty.
inline bool TooManyUnsure(uint64_t unsure, uint64_t requests) { return unsure * 20 > requests; }

}  // namespace tacho
