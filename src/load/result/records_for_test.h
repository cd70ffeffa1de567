#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "load/drive/drive.h"

namespace tacho {

// A request sent at `sent_ms`. At each time of `chunks_ms` it got a chunk of one token.
inline RequestRecord RequestForTest(int64_t sent_ms, const std::vector<int64_t>& chunks_ms) {
  RequestRecord r;
  r.scenario = "chat";
  r.status = RequestStatus::kDone;
  r.http_status = 200;
  r.attempts = 1;
  r.intended_ns = r.admitted_ns = r.handed_ns = r.sent_ns = sent_ms * kNsPerMs;
  r.planned_prompt_tokens = r.prompt_tokens = 24;
  r.counted_by = TokenCounts::kUsage;
  for (const int64_t at : chunks_ms) {
    r.chunk_ns.push_back(at * kNsPerMs);
    r.chunk_tokens.push_back(1);
    ++r.output_tokens;
  }
  r.planned_output_tokens = r.output_tokens;
  if (!chunks_ms.empty()) {
    r.first_byte_ns = r.first_token_ns = r.first_choice_ns = r.chunk_ns.front();
    r.last_token_ns = r.last_choice_ns = r.ended_ns = r.chunk_ns.back();
  }
  r.finish_reason = "length";
  return r;
}

// A load with these requests, which started at 1000 ms.
inline LoadRecords RecordsForTest(std::vector<RequestRecord> requests) {
  LoadRecords records;
  records.started_ns = 1'000'000'000;
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].index = i;
    records.ended_ns = std::max(records.ended_ns, requests[i].ended_ns);
  }
  records.requests = std::move(requests);
  return records;
}

}  // namespace tacho
