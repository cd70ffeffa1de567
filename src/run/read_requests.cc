#include "run/read_requests.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/parse_json.h"
#include "io/read_whole.h"
#include "run/run_place.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostRequests = size_t{1} << 32;
constexpr DurationNs kNoticesEnd{1'000'000'000};
// So that sums do not overflow.
constexpr int64_t kMostNumber = std::numeric_limits<int64_t>::max() / 4;

// A number in a record; nullopt if it is negative or too large.
std::optional<int64_t> CountOf(const Json& object, const char* key) {
  const auto number = object.find(key);
  if (number == object.end() || !number->is_number_integer()) return std::nullopt;
  const auto count = number->get<int64_t>();
  return count >= 0 && count <= kMostNumber ? std::optional(count) : std::nullopt;
}

std::string TextOf(const Json& object, const char* key) {
  const auto text = object.find(key);
  return text != object.end() && text->is_string() ? text->get<std::string>() : std::string();
}

// Limits on the number of tokens, of one request and of all. The analyses need memory for each
// token, and a few digits in the file can claim any number.
constexpr int64_t kMostTokensOfOne = 1 << 20, kMostTokensOfAll = 1 << 25;

// Appends the chunks in the record of a request and returns the number of their tokens. The record
// gives each time as the difference from the one before; the first one counts from `sent`. If there
// are more than `most` tokens, appends nothing and returns 0.
int64_t AddChunks(const Json& record, TimeNs sent, int64_t most, RequestTable& table) {
  const auto times = record.find("chunk_dt_ns"), tokens = record.find("chunk_tokens");
  if (times == record.end() || tokens == record.end() || !times->is_array() ||
      !tokens->is_array() || times->size() != tokens->size())
    return 0;
  const size_t before = table.chunks.size();
  int64_t sum = 0;
  for (size_t i = 0; i < times->size(); ++i) {
    if (!(*times)[i].is_number_integer() || !(*tokens)[i].is_number_unsigned()) return sum;
    const auto here = (*tokens)[i].get<uint64_t>();
    if (here > static_cast<uint64_t>(most - sum)) {
      table.chunks.resize(before);
      return 0;
    }
    sent.ns = AddSaturated(sent.ns, (*times)[i].get<int64_t>());
    table.chunks.push_back({sent, static_cast<uint32_t>(here)});
    sum += static_cast<int64_t>(here);
  }
  return sum;
}

// Reduces `left` by the number of its tokens.
void AddRequest(const Json& record, int64_t& left, RequestTable& table) {
  Request& request = table.rows.emplace_back();
  request.id = TextOf(record, "id");
  request.server_id = TextOf(record, "server_id");
  request.scenario = TextOf(record, "scenario");
  request.worker = table.WorkerAt(TextOf(record, "url"));
  request.whole = TextOf(record, "status") == "done";
  request.cancelled = TextOf(record, "status") == "cancelled";
  request.at_limit = TextOf(record, "finish_reason") == "length";
  request.prompt_tokens = CountOf(record, "prompt_tokens");
  request.cached_tokens = CountOf(record, "cached_tokens");
  const int64_t most = std::min(left, kMostTokensOfOne);
  request.output_tokens = CountOf(record, "output_tokens");
  if (request.output_tokens.value_or(0) > most) request.output_tokens.reset();
  if (const auto ended = CountOf(record, "ended_unix_ns")) request.ended = TimeNs{*ended};
  request.counted = TextOf(record, "counted_by") != "chunks";
  request.first_chunk = request.end_chunk = table.chunks.size();
  const auto sent = CountOf(record, "sent_ns"), unix = CountOf(record, "sent_unix_ns");
  if (!sent || !unix) return;
  const ClockShift to_unix{{*unix - *sent}};
  const auto time_of = [&](const char* key) {
    const auto at = CountOf(record, key);
    return at ? std::optional(to_unix.Convert(TimeNs{*at})) : std::nullopt;
  };
  request.due = time_of("admitted_ns");
  request.handed = time_of("handed_ns");
  request.sent = TimeNs{*unix};
  request.first_token = time_of("first_token_ns");
  request.last_token = time_of("last_token_ns");
  const int64_t in_chunks = AddChunks(record, *request.sent, most, table);
  request.end_chunk = table.chunks.size();
  left -= std::max(in_chunks, request.output_tokens.value_or(0));
}

void AddWorker(const Json& worker, RequestTable& table) {
  const auto number = static_cast<uint32_t>(table.workers.size());
  const int64_t engines = CountOf(worker, "data_parallel").value_or(1);
  table.workers.push_back({TextOf(worker, "name"), TextOf(worker, "url"), engines > 1, engines});
  const auto offset = worker.find("clock_offset_ns");
  if (offset == worker.end() || !offset->is_number_integer()) return;
  table.clocks.Relate(
      {ClockOf::kClient}, {ClockOf::kHost, number},
      {{offset->get<int64_t>()}, DurationNs{CountOf(worker, "clock_error_ns").value_or(0)}});
}

}  // namespace

std::optional<WorkerInFlight> InFlightAt(const RequestTable& requests, uint32_t worker) {
  const auto to_host = requests.clocks.Between({ClockOf::kClient}, {ClockOf::kHost, worker});
  if (!to_host) return std::nullopt;
  WorkerInFlight in_flight;
  in_flight.shared = requests.workers[worker].several_engines;
  std::vector<Interval> when;
  for (const Request& request : requests.rows) {
    if (!request.sent || !request.ended) continue;
    if (request.worker != worker && request.worker != Request::kNoWorker) continue;
    in_flight.shared |= requests.engines > 1 && request.worker == Request::kNoWorker;
    const DurationNs after = request.whole ? DurationNs{} : kNoticesEnd;
    when.push_back(to_host->Convert(Interval{*request.sent, *request.ended + after}));
  }
  in_flight.when = IntervalSet(std::move(when));
  in_flight.uncertainty = to_host->error.value_or(DurationNs{}) + kTraceClockError;
  return in_flight;
}

void AddRequests(std::string_view requests_jsonl, RequestTable& table) {
  int64_t left = kMostTokensOfAll;
  while (!requests_jsonl.empty()) {
    const size_t end = requests_jsonl.find('\n');
    const Json record = ParseJson(requests_jsonl.substr(0, end));
    if (record.is_object()) AddRequest(record, left, table);
    requests_jsonl.remove_prefix(end == std::string_view::npos ? requests_jsonl.size() : end + 1);
  }
}

RequestTable RequestsOf(std::string_view requests_jsonl, std::string_view run_json) {
  RequestTable table;
  const Json run = ParseJson(run_json);
  const auto workers = run.is_object() ? run.find("workers") : run.end();
  if (workers != run.end() && workers->is_array()) {
    for (const Json& worker : *workers)
      if (worker.is_object()) AddWorker(worker, table);
  }
  table.engines = table.workers.size();
  AddRequests(requests_jsonl, table);
  return table;
}

RequestTable ReadRequests(const std::string& folder) {
  const auto records = ReadWholeFile(folder + "/requests.jsonl", kMostRequests);
  return records ? RequestsOf(*records, ReadRunJson(folder)) : RequestTable();
}

}  // namespace tacho
