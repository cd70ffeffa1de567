#include "session/run_folder/load_requests.h"

#include "run/read_requests.h"

namespace tacho {
namespace {

Request RequestOf(const RequestRecord& record, const std::vector<ClockPair>& clocks,
                  RequestTable& table) {
  const auto unix = [&](int64_t monotonic_ns) {
    return monotonic_ns == 0 ? std::nullopt : std::optional(TimeNs{UnixOf(monotonic_ns, clocks)});
  };
  Request request;
  request.id = record.id;
  request.server_id = record.server_id;
  request.scenario = record.scenario;
  request.worker = table.WorkerAt(record.url);
  request.whole = record.status == RequestStatus::kDone;
  request.handed = unix(record.handed_ns);
  request.sent = unix(record.sent_ns);
  request.first_token = unix(record.first_token_ns);
  request.last_token = unix(record.last_token_ns);
  request.ended = unix(record.ended_ns);
  if (record.prompt_tokens > 0) request.prompt_tokens = record.prompt_tokens;
  if (record.cached_tokens >= 0) request.cached_tokens = record.cached_tokens;
  request.output_tokens = record.output_tokens;
  request.first_chunk = table.chunks.size();
  for (size_t i = 0; i < record.chunk_ns.size(); ++i)
    table.chunks.push_back({{UnixOf(record.chunk_ns[i], clocks)}, record.chunk_tokens[i]});
  request.end_chunk = table.chunks.size();
  return request;
}

}  // namespace

RequestTable RequestsOf(const Recording& recording) {
  RequestTable table;
  if (!recording.load) return table;
  for (const RecordedWorker& worker : recording.workers) {
    const auto number = static_cast<uint32_t>(table.workers.size());
    table.workers.push_back(
        {worker.expectation.name, worker.worker.url, worker.facts.data_parallel.value_or(1) > 1});
    if (!worker.facts.clock_offset_ns) continue;
    table.clocks.Relate(
        {ClockOf::kClient}, {ClockOf::kHost, number},
        {{*worker.facts.clock_offset_ns}, DurationNs{worker.facts.clock_error_ns.value_or(0)}});
  }
  table.engines = recording.workers.size() + recording.left_out.size();
  for (const RequestRecord& record : recording.load->requests)
    table.rows.push_back(RequestOf(record, recording.load->clocks, table));
  return table;
}

RunInFlight InFlightOf(const Recording& recording) {
  RunInFlight in_flight;
  const RequestTable table = RequestsOf(recording);
  for (uint32_t i = 0; i < table.workers.size(); ++i) {
    if (auto at = InFlightAt(table, i)) in_flight[table.workers[i].name] = *std::move(at);
  }
  return in_flight;
}

}  // namespace tacho
