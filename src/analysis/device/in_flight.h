#pragma once

#include <cstddef>
#include <string_view>

#include "base/interval_set.h"
#include "model/trace.h"

namespace tacho {

// When requests were in flight at the engine of a trace, as those know who sent them.
struct InFlight {
  IntervalSet when;        // on the clock of the trace, wider by `uncertainty` at both ends of each
  DurationNs uncertainty;  // of the clocks
  bool shared = false;     // sent to several engines together: to which of them is unknown
};

// What a trace and the times of requests say together.
enum class Requests : uint8_t {
  kUnknown,  // their times are not known
  kKnown,
  kShared,  // known of several engines together: where there was none, there was none here
  kOthers,  // known, but the engine served others too: when it had no request is unknown
};
constexpr size_t kRequestsCount = 4;
std::string_view RequestsName(Requests requests);  // "unknown", "known", "shared", "others"

// kOthers when an engine step with requests in it lies wholly outside of `in_flight`, or, where no
// step is annotated, when the GPUs are busy for a tenth of that time or more. Cost: O(n).
Requests CheckInFlight(const Trace& trace, const InFlight& in_flight);

}  // namespace tacho
