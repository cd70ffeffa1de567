#include "analysis/requests/token_times.h"

#include <algorithm>
#include <numeric>

namespace tacho {
namespace {

constexpr TimeNs kEarliest{INT64_MIN / 4}, kLatest{INT64_MAX / 4};
constexpr DurationNs kNoticesStop{5'000'000}, kNoticesEnd{1'000'000'000};
constexpr int32_t kStepsAfterStop = 2;

// Appends, for each of the request's `tokens` tokens, when it had arrived at the latest. `counted`:
// the chunks' numbers of tokens are exact.
void AddArrivals(const RequestTable& table, const Request& request, uint32_t tokens, bool counted,
                 std::vector<TimeNs>& arrivals) {
  const size_t end = arrivals.size() + tokens;
  const TimeNs last = request.end_chunk > request.first_chunk
                          ? table.chunks[request.end_chunk - 1].at
                          : request.ended.value_or(kLatest);
  TimeNs so_far = kEarliest;
  for (size_t i = request.first_chunk; i < request.end_chunk && arrivals.size() < end; ++i) {
    so_far = std::max(so_far, table.chunks[i].at);
    const size_t here = counted ? table.chunks[i].tokens : 1;
    arrivals.insert(arrivals.end(), std::min(here, end - arrivals.size()), so_far);
  }
  arrivals.insert(arrivals.end(), end - arrivals.size(), std::max(so_far, last));
}

int64_t TokensInChunks(const RequestTable& table, const Request& request) {
  return std::accumulate(table.chunks.begin() + static_cast<ptrdiff_t>(request.first_chunk),
                         table.chunks.begin() + static_cast<ptrdiff_t>(request.end_chunk),
                         int64_t{0},
                         [](int64_t sum, const RequestTable::Chunk& c) { return sum + c.tokens; });
}

}  // namespace

TokenTimesOf::TokenTimesOf(const RequestTable& table) {
  requests.reserve(table.rows.size());
  arrivals.reserve(table.chunks.size());
  for (const Request& request : table.rows) {
    TokenTimes& times = requests.emplace_back();
    const auto chunks = static_cast<int64_t>(request.end_chunk - request.first_chunk);
    times.any = request.sent.has_value() || chunks > 0;
    times.first = arrivals.size();
    if (!times.any) continue;
    const int64_t in_chunks = TokensInChunks(table, request);
    const bool counted =
        request.counted && (!request.output_tokens || *request.output_tokens == in_chunks);
    const bool all = request.whole && request.output_tokens;
    const int64_t tokens = all ? *request.output_tokens : counted ? in_chunks : chunks;
    times.tokens = static_cast<uint32_t>(std::min<int64_t>(tokens, TokenTimes::kAnyNumber));
    AddArrivals(table, request, times.tokens, counted, arrivals);
    times.sent = request.sent.value_or(kEarliest);
    times.more = all ? kStepsAfterStop : TokenTimes::kAnyNumber;
    times.at_limit = all && request.at_limit;
    times.over = request.ended.value_or(kLatest);
    if (times.tokens > 0) times.over = std::max(times.over, arrivals.back());
    times.over.ns = AddSaturated(times.over.ns, (all ? kNoticesStop : kNoticesEnd).ns);
    times.prompt_most = request.prompt_tokens.value_or(INT64_MAX);
    if (request.prompt_tokens && request.cached_tokens)
      times.prompt_least = std::max<int64_t>(1, *request.prompt_tokens - *request.cached_tokens);
  }
}

}  // namespace tacho
