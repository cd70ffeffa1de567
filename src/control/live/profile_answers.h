#pragma once

#include "control/engine.h"
#include "control/live/profile_control.h"
#include "net/http.h"

namespace tacho {

// Judges an engine's answer to a start or a stop as that engine means it. Sets `status`, `verdict`,
// `said` and `taken` of the outcome.
void JudgeAnswer(const ControlRequest& request, const EngineFacts& facts,
                 const HttpResponse& answer, ControlOutcome& outcome);

}  // namespace tacho
