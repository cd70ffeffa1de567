#pragma once

#include <cstddef>
#include <string_view>

#include "base/interval_set.h"
#include "model/trace.h"

namespace tacho {

// When requests were in flight at the engine of a trace, as their senders report it.
struct InFlight {
  IntervalSet when;  // on the trace's clock; each interval wider by `uncertainty` at both ends
  DurationNs uncertainty;  // of the clocks
  bool shared = false;     // sent to several engines together: unknown which request went where
};

// How far it is known when the engine of a trace had requests.
enum class Requests : uint8_t {
  kUnknown,  // their times are not known
  kKnown,
  kShared,  // known for several engines together: if none had a request, nor had this one
  kOthers,  // known, but the engine served others too: when it had no request is unknown
};
constexpr size_t kRequestsCount = 4;
std::string_view RequestsName(Requests requests);  // "unknown", "known", "shared", "others"

// kOthers when an engine step with requests in it lies wholly outside of `in_flight`. If no step
// with requests is annotated: kOthers when the GPUs are busy for more than a tenth of the time
// outside of `in_flight`. Cost: O(n).
Requests CheckInFlight(const Trace& trace, const InFlight& in_flight);

}  // namespace tacho
