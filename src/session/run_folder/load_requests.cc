#include "session/run_folder/load_requests.h"

#include "run/read_requests.h"

namespace tacho {

RequestTable RequestsOf(const Recording& recording) {
  RequestTable table;
  if (!recording.load) return table;
  for (const RecordedWorker& worker : recording.workers) {
    const auto number = static_cast<uint32_t>(table.workers.size());
    const int64_t engines = worker.facts.data_parallel.value_or(1);
    table.workers.push_back({worker.expectation.name, worker.worker.url, engines > 1, engines});
    if (!worker.facts.clock_offset_ns) continue;
    table.clocks.Relate(
        {ClockOf::kClient}, {ClockOf::kHost, number},
        {{*worker.facts.clock_offset_ns}, DurationNs{worker.facts.clock_error_ns.value_or(0)}});
  }
  table.engines = recording.workers.size() + recording.left_out.size();
  AddRequests(RecordsAsJsonLines(*recording.load), table);
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
