#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/interval_set.h"
#include "session/record.h"

namespace tacho {

// When requests of the load were in flight at one worker: from when the kernel took one until the
// client had its answer, or the end of it; `shared` when these may have gone to other engines.
struct WorkerInFlight {
  IntervalSet when;        // Unix time by the worker's clock
  DurationNs uncertainty;  // of that clock against ours
  bool shared = false;
};

// By name of the worker ("w0"), which its folder of traces has too. One is absent where nobody
// knows: tacho did not drive the load, or the clock of the worker's host was not told.
using RunInFlight = std::map<std::string, WorkerInFlight>;

// A request that went to none of the workers (through a router) counts for all of them, shared; so
// are those of a worker with data-parallel engines. One without
// a whole answer counts for another second: an engine may go on with it.
RunInFlight InFlightOf(const Recording& recording);

// The same from the text of a run.json, as RunJsonText writes it; empty where it does not tell.
RunInFlight InFlightOfRunJson(std::string_view text);

}  // namespace tacho
