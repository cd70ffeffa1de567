#pragma once

#include <memory>

#include "base/result.h"
#include "simulate/worker.h"

namespace tacho::simulate {

// A server of another kind (WorkerOptions::host, not kNone), modelled on its public contract:
//   kTensorRtLlm  trtllm-serve: plain JSON traces, a start_step that counts from the request on,
//                 409 for a second start, a stop that answers after 30 s at the latest;
//   kTokenSpeed   the control port of tokenspeed serve, which hands profile requests to its SMG;
//   kDynamo       the system port of a Dynamo worker: no requests but those of its front end.
// docs/engines.md lists what the contracts leave open. kUsage: what the engine inside refuses.
Result<std::unique_ptr<Worker>> MakeHostedServer(const WorkerOptions& options, Loop& loop,
                                                 ServerLog& log);

// The path prefix of requests from a Dynamo front end to its workers. Real ones use their own
// transport.
inline constexpr char kFromFrontEnd[] = "/_from_front_end";

}  // namespace tacho::simulate
