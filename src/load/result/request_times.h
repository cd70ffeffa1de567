#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "load/result/records.h"

namespace tacho {

// The times of one request by the definitions of docs/metrics.md; absent where they
// cannot be told, as of chunks that are unsure (records.h). All in nanoseconds.

// From the sending to the first token.
std::optional<int64_t> TtftNs(const RequestRecord& record);
// From the sending to the last chunk with a choice in it; the final usage and [DONE] do not count.
std::optional<int64_t> EndToEndNs(const RequestRecord& record);
// (end to end - TTFT) / (tokens - 1); absent below two tokens.
std::optional<double> TpotNs(const RequestRecord& record);
// From the time of the schedule in place of the sending: what a user saw who came at that time. An
// engine that is late makes a capped client late too, and times from the sending then hide it
// (coordinated omission).
std::optional<int64_t> IntendedTtftNs(const RequestRecord& record);
std::optional<int64_t> IntendedEndToEndNs(const RequestRecord& record);
// What the bound of requests at once cost: admitted - intended.
int64_t QueueNs(const RequestRecord& record);
// What the client cost: handed - admitted.
std::optional<int64_t> LatenessNs(const RequestRecord& record);

// Appends the times between chunks that carried tokens (`chunk_gap`; "ITL" of vLLM's client).
void AppendChunkGaps(const RequestRecord& record, std::vector<double>& gaps);
// Appends one time a token from the second chunk on: the gap before its chunk, shared evenly by the
// chunk's tokens. None where tokens are not told by chunk.
void AppendTokenGaps(const RequestRecord& record, std::vector<double>& gaps);

// Whether a figure can do without so many of its requests, whose times are unsure: one in twenty.
inline bool TooManyUnsure(uint64_t unsure, uint64_t requests) { return unsure * 20 > requests; }

}  // namespace tacho
