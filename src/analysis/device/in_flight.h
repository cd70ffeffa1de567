#pragma once

#include <cstddef>
#include <string_view>

#include "base/interval_set.h"
#include "model/trace.h"

namespace tacho {

// When requests were in flight at the engine of a trace, according to the clients that sent them.
struct InFlight {
  IntervalSet when;  // on the trace's clock; each interval is widened by `uncertainty` at both ends
  DurationNs uncertainty;  // how far the clients' clock may be off from the trace's clock
  bool shared = false;  // the requests went to several engines; which engine got which is unknown
};

// How well it is known when the engine of a trace had requests.
enum class Requests : uint8_t {
  kUnknown,  // no times of requests are known
  kKnown,
  kShared,  // known for several engines together: if none of them had a request, this one had none
  // The known requests are not all: the engine served others too, so when it had none is unknown.
  kOthers,
};
constexpr size_t kRequestsCount = 4;
std::string_view RequestsName(Requests requests);  // "unknown", "known", "shared", "others"

// Whether `in_flight` covers all requests that the engine served. kOthers if an engine step that
// serves requests lies wholly outside of `in_flight`. If no step tells that it serves requests:
// kOthers if the GPUs were busy in more than a tenth of the time outside of `in_flight`. In all
// other cases kShared or kKnown, depending on in_flight.shared. Cost: O(n).
Requests CheckInFlight(const Trace& trace, const InFlight& in_flight);

}  // namespace tacho
