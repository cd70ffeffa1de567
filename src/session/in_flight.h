#pragma once

#include "run/run_in_flight.h"
#include "session/record.h"

namespace tacho {

// A request that went to none of the workers (through a router) counts for all of them, shared; so
// are those of a worker with data-parallel engines. One without
// a whole answer counts for another second: an engine may go on with it.
RunInFlight InFlightOf(const Recording& recording);

}  // namespace tacho
