#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/requests.h"
#include "run/run_in_flight.h"

namespace tacho {

// When requests of the load were in flight at one worker; nullopt if the clock of the worker's host
// is unknown. Requests sent to a router count for every worker. The result is marked as shared if
// the router has several engines, or the worker has several data-parallel engines. A request
// without a complete answer counts for one more second, because the engine may still have worked on
// it.
std::optional<WorkerInFlight> InFlightAt(const RequestTable& requests, uint32_t worker);

// Appends the requests in the text of a requests.jsonl to `table`. Reads them as RequestsOf does.
// `table` must already have its workers.
void AddRequests(std::string_view requests_jsonl, RequestTable& table);

// The table of a recording, from the texts of its requests.jsonl and run.json, which `tacho record`
// wrote. Skips lines that are not requests. Without a readable run.json the table has no workers.
// Converts all times of a request with the clock pair that its client read when it sent the
// request. Drops the tokens of a request that claims more than a million. Once there are 33 million
// tokens in total, drops those of all later requests.
RequestTable RequestsOf(std::string_view requests_jsonl, std::string_view run_json);

// The same for a run folder. Empty if requests.jsonl is missing or has 4 GiB or more.
RequestTable ReadRequests(const std::string& folder);

}  // namespace tacho
