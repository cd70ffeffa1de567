#pragma once

#include "run/run_in_flight.h"
#include "session/recording.h"

namespace tacho {

// When requests were in flight at each worker. A request that went through a router counts for all
// workers, shared; so does one to a worker with data-parallel engines. A request without a whole
// answer counts for another second: an engine may go on with it.
RunInFlight InFlightOf(const Recording& recording);

}  // namespace tacho
