#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/requests.h"
#include "run/run_in_flight.h"

namespace tacho {

// When requests of the load were in flight at a worker of the table; nullopt if the clock of its
// host is not known. A request through a router counts for all workers, as shared; a request to a
// worker with data-parallel engines also counts as shared. A request without a whole answer counts
// for another second: an engine may go on with it.
std::optional<WorkerInFlight> InFlightAt(const RequestTable& requests, uint32_t worker);

// Appends the requests of a requests.jsonl, as RequestsOf does. The workers of the table are known.
void AddRequests(std::string_view requests_jsonl, RequestTable& table);

// The table of a recording from the text of its requests.jsonl and of its run.json, as `tacho
// record` writes them. Skips lines that are no requests; a run.json that cannot be read names no
// workers. Converts all times of a request by the client's clock at its sending. A request that
// claims more than a million tokens gets none, and so does every request after the tokens of all
// have reached 33 million.
RequestTable RequestsOf(std::string_view requests_jsonl, std::string_view run_json);

// The same from a run folder; empty if it has no requests.jsonl, or one of 4 GiB or more.
RequestTable ReadRequests(const std::string& folder);

}  // namespace tacho
