#pragma once

#include "model/requests.h"
#include "run/run_in_flight.h"
#include "session/recording.h"

namespace tacho {

// The load's requests and the recorded workers; empty without a load.
RequestTable RequestsOf(const Recording& recording);

// When requests were in flight at each worker (InFlightAt). Leaves out a worker if the clock of its
// host is not known.
RunInFlight InFlightOf(const Recording& recording);

}  // namespace tacho
