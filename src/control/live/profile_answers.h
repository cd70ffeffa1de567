#pragma once

#include "control/engine.h"
#include "control/live/profile_control.h"
#include "net/http.h"

namespace tacho {

// What an engine's answer to a start or a stop means, in its own dialect: fills in status, verdict,
// said and taken.
void JudgeAnswer(const ControlRequest& request, const EngineFacts& facts,
                 const HttpResponse& answer, ControlOutcome& outcome);

}  // namespace tacho
