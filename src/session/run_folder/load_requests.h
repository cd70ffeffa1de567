#pragma once

#include "model/requests.h"
#include "run/run_in_flight.h"
#include "session/recording.h"

namespace tacho {

// The requests of the load and the workers that were recorded; empty without a load.
RequestTable RequestsOf(const Recording& recording);

// When requests were in flight at each worker (InFlightAt). Leaves out a worker if its host's clock
// is not known.
RunInFlight InFlightOf(const Recording& recording);

}  // namespace tacho
