#pragma once

#include <memory>

#include "base/result.h"
#include "simulate/worker.h"

namespace tacho::simulate {

// Makes a server with an engine inside (WorkerOptions::host, not kNone), modelled on the server's
// public contract:
//  kTensorRtLlm  trtllm-serve: traces in plain JSON; a start_step relative to the request; 409 for
//                a second start request; a stop request is answered after 30 s at the latest;
//  kTokenSpeed   the control port of tokenspeed serve, which passes profile requests to its SMG;
//  kDynamo       the system port of a Dynamo worker, which takes requests only from its front end.
// docs/engines.md lists what the contracts leave open. kUsage: a setting that the engine inside
// refuses.
Result<std::unique_ptr<Worker>> MakeHostedServer(const WorkerOptions& options, Loop& loop,
                                                 ServerLog& log);

// The path prefix of requests that a Dynamo front end sends to its workers. Real front ends use a
// transport of their own instead.
inline constexpr char kFromFrontEnd[] = "/_from_front_end";

}  // namespace tacho::simulate
